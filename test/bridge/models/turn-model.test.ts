// The contract of models on one that OpenAI's is nothing like: were its capabilities not read, half of this would fail.
import t from 'tap';
import { modelConformance } from './conformance.ts';
import { CONFIG } from './openai/session-rig.ts';
import { openTurnModel } from './turn-model.ts';

for (const answersByItself of [true, false]) {
  for (const commits of [true, false]) {
    const can = { answersByItself, commits, callsTools: commits, saysLines: answersByItself };
    modelConformance(
      t,
      `a model of turns, ${JSON.stringify(can)}`,
      async (t, listener, { manner, history }) => {
        let called = false;
        const session = openTurnModel({ ...CONFIG, history }, listener, {
          can,
          answer(about) {
            if (manner !== 'calls-tool' || called) return { text: `About ${about}.` };
            called = true;
            return { text: 'One moment.', tool: 'end_call' };
          },
        });
        t.teardown(() => session.close());
        return session;
      },
    );
  }
}
