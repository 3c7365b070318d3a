// The bench in its short form: the daemon and the bare bridge carry the same calls, nothing is lost, and the daemon's cost stays
// in reach of the floor. Figures worth quoting come from `npm run bench` on a machine with nothing else to do.
import t from 'tap';
import { runCampaign } from '../bench/campaign.ts';
import { SHORT } from '../bench/main.ts';
import { rowsOf } from '../bench/tables.ts';

t.test('the daemon beside a bare bridge, on the same load', async (t) => {
  const campaign = await runCampaign(
    { ...SHORT, calls: 16, seconds: 6, subjects: ['daemon', 'json'] },
    {
      step: (text) => text.startsWith('left out') && t.fail(text),
      measured() {},
    },
  );
  const [daemon, json] = rowsOf(campaign);
  t.equal(daemon?.name, 'daemon');
  t.equal(json?.name, 'json');
  for (const figures of [...(campaign.compared.daemon ?? []), ...(campaign.compared.json ?? [])]) {
    t.equal(figures.broken, null, `${figures.subject}: every call lived`);
    t.equal(figures.lostFrames, 0, `${figures.subject}: no frame of a caller was lost`);
    t.equal(figures.shortAnswers, 0, `${figures.subject}: no answer came short`);
    t.ok(figures.wholeAnswers > 0, `${figures.subject}: answers came whole`);
    t.ok(figures.uplink.count > 100, `${figures.subject}: callers were heard`);
  }
  // VAD, pacing, ledger, transcripts and events in place of nothing: far above this, something runs away.
  t.ok((daemon?.toJson ?? 99) < 5, `CPU ${daemon?.toJson.toFixed(2)}x that of the bare bridge`);
  t.ok(
    (daemon?.memoryKb ?? 0) < (json?.memoryKb ?? 0) + 8_192,
    `memory ${daemon?.memoryKb.toFixed(0)} kB per call`,
  );
});
