// Which turns are counted as answers, and how near a level comes to what was measured.
import t from 'tap';
import { latencyOf, levelOf as levelOn } from '../../storage/latency-levels.ts';

const levelOf = (turn: Parameters<typeof levelOn>[0]) => levelOn(turn, { telephone: true });
const answer = (ms: number) =>
  ({ kind: 'answer', speech_end_ms: 1_000, first_heard_ms: 1_000 + ms }) as const;

t.test('a level stands for what was measured, to within 3 %', async (t) => {
  for (let ms = 20; ms < 60_000; ms = Math.ceil(ms * 1.013)) {
    const found = latencyOf(levelOf(answer(ms)) ?? Number.NaN);
    if (Math.abs(found - ms) > Math.max(1, ms * 0.03)) t.fail(`${ms} is shown as ${found}`);
  }
  t.equal(levelOf(answer(700)), levelOf(answer(702)), 'neighbours are counted together');
});

t.test('what is no answer, or was not heard, is not counted', async (t) => {
  t.equal(levelOf({ ...answer(700), kind: 'greeting' }), null);
  t.equal(levelOf({ kind: 'prompt', speech_end_ms: null, first_heard_ms: 5 }), null);
  t.equal(levelOf({ kind: 'answer', speech_end_ms: null, first_heard_ms: 5 }), null);
  t.equal(levelOf({ ...answer(0), first_heard_ms: null }), null);
  t.equal(levelOn(answer(700), { telephone: false }), null, 'on a page');
  t.equal(latencyOf(levelOf(answer(0)) ?? Number.NaN), 1, 'at once is a millisecond');
  t.equal(latencyOf(levelOf(answer(-300)) ?? Number.NaN), 1, 'and so is an answer that began before');
});
