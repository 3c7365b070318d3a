// The bench in its short form: the daemon and the bare bridge carry the same calls, plain and over TLS, nothing is lost, and the
// daemon's cost stays in reach of the floor. Figures worth quoting come from `npm run bench` on a machine with nothing else to do.
import t from 'tap';
import { runCampaign } from '../bench/campaign.ts';
import { changes } from '../bench/compare.ts';
import { SHORT } from '../bench/main.ts';
import { fromText, toText } from '../bench/results.ts';
import { roundsOf, rowOf } from '../bench/rows.ts';
import { missingFrom, sectionsOf } from '../bench/tables.ts';

const CALLS = 16;
const AGED_TURNS = 3;

t.test('the daemon beside a bare bridge, on the same load', async (t) => {
  const columns = ['daemon', 'daemon-direct', 'daemon-tls', 'daemon-aged', 'json', 'json-tls'] as const;
  const results = await runCampaign(
    { ...SHORT, calls: CALLS, seconds: 6, columns, agedTurns: AGED_TURNS, limitSeconds: 240 },
    {
      step: (text) => text.startsWith('left out') && t.fail(text),
      measured() {},
    },
  );
  t.same(missingFrom(results), []);
  for (const column of columns) {
    const [figures] = roundsOf(results, column, CALLS);
    if (figures === undefined) {
      t.fail(`${column} was not measured`);
      continue;
    }
    t.equal(figures.lostFrames, 0, `${column}: no frame of a caller was lost`);
    t.equal(figures.shortAnswers, 0, `${column}: no answer came short`);
    t.notMatch(figures.notCarried ?? '', /lost|no sound/, `${column}: every call lived`);
    t.ok(figures.wholeAnswers > 0, `${column}: answers came whole`);
    t.ok(figures.newestFrame.count > 100, `${column}: callers were heard`);
    t.ok(figures.everyFrame.count >= figures.newestFrame.count, `${column}: frame by frame`);
    const parts = rowOf(results, column, CALLS)?.parts;
    t.ok(
      (parts?.media.cpuUs ?? 0) > 0 && (parts?.media.wakeUps ?? 0) > 0,
      `${column}: its threads were seen`,
    );
  }
  const daemon = rowOf(results, 'daemon', CALLS);
  const json = rowOf(results, 'json', CALLS);
  t.ok(
    (daemon?.heldFrame[0] ?? 0) > (daemon?.newestFrame[0] ?? 0),
    'a pre-roll is older than what is sent at once',
  );
  t.ok(
    (roundsOf(results, 'daemon-aged', CALLS)[0]?.turns ?? 0) > AGED_TURNS,
    'old calls have turns behind them',
  );
  // VAD, pacing, ledger, transcripts and events in place of nothing: far above this, something runs away.
  t.ok(
    (daemon?.toFloor.middle ?? 99) < 5,
    `CPU ${daemon?.toFloor.middle.toFixed(2)}x that of the bare bridge`,
  );
  t.ok(
    (daemon?.memoryKb ?? 0) < (json?.memoryKb ?? 0) + 8_192,
    `memory ${daemon?.memoryKb.toFixed(0)} kB per call`,
  );
  const kept = fromText(toText(results));
  t.same(kept, results, 'a run is kept as it is');
  t.ok(
    changes(results, kept).every(({ ratio }) => ratio === 1),
    'against itself nothing has changed',
  );
  t.ok(sectionsOf(results).every(({ head, rows }) => rows.every((row) => row.length === head.length)));
});
