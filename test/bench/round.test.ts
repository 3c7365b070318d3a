// When calls count as carried: nothing lost, nothing late, and nobody left without an answer.
import t from 'tap';
import { figures } from './made-up.ts';
import { whyNot } from './round.ts';

const late = { count: 100, p50: 5, p99: 30, max: 40 };

t.test('why a round does not count', async (t) => {
  t.equal(whyNot(figures()), null);
  t.equal(whyNot(figures({ newestFrame: { ...late, count: 0 } })), 'no sound reached the model');
  t.equal(whyNot(figures({ lostFrames: 2 })), '2 frames of callers lost');
  t.equal(whyNot(figures({ shortAnswers: 1 })), '1 answers not whole');
  t.equal(whyNot(figures({ firstAudio: late })), 'first audio p99 30 ms');
});

t.test('who answers fewer questions has less to do, and is not compared', async (t) => {
  const round = { calls: 100, seconds: 9 };
  t.equal(whyNot(figures({ ...round, answers: 145 })), null);
  t.equal(whyNot(figures({ ...round, answers: 142 })), '142 answers for about 159 questions');
  t.equal(
    whyNot(figures({ calls: 10, seconds: 8, answers: 10 })),
    null,
    'of few a few more or less say nothing',
  );
  t.match(whyNot(figures({ calls: 10, seconds: 8, answers: 5 })), /^5 answers/);
});
