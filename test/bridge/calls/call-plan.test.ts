// What a media thread is told of a call: all of it by the call's own record.
import t from 'tap';
import { planCall } from '../../../bridge/calls/call-plan.ts';
import { LINE_TEXTS, SESSION_TEXTS, talkTexts } from '../../../control/agents/texts/moments.ts';
import { makeCall } from '../../storage/makers.ts';

const plan = (fields: Parameters<typeof makeCall>[1]) =>
  planCall(makeCall('o', fields), {
    tokenHash: 'ab',
    machine: 'none',
    patience: 2,
    texts: {
      talk: talkTexts,
      session: SESSION_TEXTS,
      line: LINE_TEXTS,
      modelTools: () => [],
      shortWords: () => ({ assents: null, stops: [] }),
    },
    access: { kind: 'openai', url: '', apiKey: '', model: 'm', transcriptionModel: '' },
    recordingPath: null,
    resumed: null,
    maxSeconds: 60,
    language: 'pt-BR',
  });

t.test('a call is led in the words that its agent was tuned by', async (t) => {
  const tuning = { patience: 'long', eagerness: 'relaxed', interruption: 'easy' } as const;
  t.same(plan(tuning).tuning, tuning);
  t.same(plan({}).tuning, { patience: 'normal', eagerness: 'normal', interruption: 'normal' });
  t.equal(plan(tuning).patience, 2, 'how long a silent side is waited for is another matter');
});

t.test('voice, language and direction are those of the call', async (t) => {
  const { model, direction } = plan({ voice: 'cedar', direction: 'inbound' });
  t.match(model, { voice: 'cedar', language: 'pt' });
  t.equal(direction, 'inbound');
});
