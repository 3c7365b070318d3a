// A thread or a line that stands still in a caller's pause, and gives what it kept back all at once: the pause is judged by the
// sound, not by the time that passed meanwhile. And a line that sends nothing more keeps nobody waiting for long.
import t from 'tap';
import { seeded } from '../random.ts';
import { holdTalks, type Standstill } from './conversations.ts';
import { readRecordings } from './recordings.ts';
import { between } from './sounds.ts';
import { judge } from './talk-scores.ts';
import { type LabelledTalk, talksOf } from './talks.ts';

const TALKS = talksOf(readRecordings('own'), 0.5);
const PAUSES = TALKS.filter(({ kind }) => kind === 'pause');

/** Each call stands still once, at a moment of its own about the pause. */
function standingStill(of: Standstill['of'], ms: number): LabelledTalk[] {
  const random = seeded(ms);
  return PAUSES.map((talk) => {
    const fromMs = talk.spoken[0]!.toMs + between(-100, 550, random);
    return { ...talk, standstills: [{ of, fromMs, toMs: fromMs + ms }] };
  });
}

t.test('no pause is cut for a thread that slept, nor for a segment that came late', async (t) => {
  const kinds: [Standstill['of'], number][] = [
    ['thread', 200],
    ['thread', 500],
    ['thread', 1_500],
    ['line', 200],
    ['line', 450],
  ];
  const still = kinds.flatMap(([of, ms]) => standingStill(of, ms));
  const { cut, notes } = judge(still, await holdTalks(still));
  for (const [pause, { hits, of }] of Object.entries(cut)) {
    t.ok(of >= 100, `${of} pauses of ${pause}`);
    t.equal(hits, 0, `cut in a pause of ${pause}`);
  }
  if (!t.passing()) t.comment(notes.join('\n'));
});

t.test('a line that sends nothing after the words: answered without it', async (t) => {
  const ends = TALKS.filter(({ kind }) => kind === 'end of turn');
  t.ok(ends.length >= 5, `${ends.length} calls`);
  for (const pausesMs of [40, 300, 500]) {
    const muted = ends.map((talk): LabelledTalk => {
      const fromMs = talk.spoken[0]!.toMs + pausesMs;
      return { ...talk, standstills: [{ of: 'line', fromMs, toMs: talk.lengthMs }] };
    });
    for (const [i, { asked }] of (await holdTalks(muted)).entries()) {
      const { name, spoken } = muted[i]!;
      const afterMs = (asked.at(-1) ?? 0) - spoken[0]!.toMs;
      t.ok(afterMs > 400 && afterMs <= 1_200, `${name}, ${pausesMs} ms of silence sent: ${afterMs} ms`);
    }
  }
});
