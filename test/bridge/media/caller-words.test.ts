// Words over the agent's voice that were given to the model, and of which nothing ever comes.
import t from 'tap';
import { CallerWords } from '../../../bridge/media/caller-words.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';

t.test('words that never come are not waited for without end', async (t) => {
  let now = 0;
  let turn = 0;
  const settled: [number, string | null][] = [];
  const became: string[] = [];
  const words = new CallerWords({
    capabilities: { ...TURN_BY_TURN, transcribes: true },
    words: { assents: ['mhm'], stops: ['stop'] },
    anyStops: true,
    feed: { giveWord: () => turn++ },
    record: {
      agentSays: () => '',
      callerText: (...one) => void settled.push(one),
      callerWord() {},
      wordKnown: (what) => void became.push(what),
    },
    now: () => now,
    tell() {},
    agentSpeaks: () => true,
  });
  for (; turn < 200; now += 6_000) words.give({ onsetMs: now, endMs: now + 300 });
  const waited = turn - settled.length;
  t.ok(waited > 12 && waited < 40, `${waited} are`);
  t.same(
    settled,
    Array.from({ length: settled.length }, (_, i) => [i, null]),
    'the oldest have none',
  );
  t.equal(words.known(0, 'Too late.'), 'Too late.');
  t.equal(words.known(199, 'mhm'), 'mhm', 'the newest is still known for a word');
  t.equal(became.at(-1), 'go-on');
});
