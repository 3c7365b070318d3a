// The contract of models on OpenAI's session against the simulated server, for every format that a line may bring.
import t from 'tap';
import type { AudioFormat } from '../../../../audio/format.ts';
import { openOpenAISession } from '../../../../bridge/models/openai/session.ts';
import { startModelSimulator } from '../../../../scripts/model-simulator/simulator.ts';
import { modelConformance } from '../conformance.ts';
import { CONFIG } from './session-rig.ts';

const CALLS_TOOL = {
  hears: [],
  rules: [
    { on: 'tool_result', say: 'It is {{tool.state}}.' },
    { on: 'any', say: 'One moment.', tool: { name: 'end_call', arguments: {} } },
  ],
};
const REMEMBERS = { hears: [], rules: [{ on: 'any', say: '{{heard}}' }] };
const SCENARIOS = { talks: 'reminder', 'calls-tool': CALLS_TOOL, remembers: REMEMBERS };
const LINES: readonly AudioFormat[] = [
  { encoding: 'mulaw', rateHz: 8000 },
  { encoding: 'alaw', rateHz: 8000 },
  { encoding: 'pcm16', rateHz: 16000 },
];

for (const line of LINES) {
  modelConformance(t, `openai, a line of ${line.encoding}`, async (t, listener, { manner, history }) => {
    const scenario = SCENARIOS[manner];
    const simulator = await startModelSimulator({ scenario, pacing: 'fast', seed: 1 });
    const config = {
      ...CONFIG,
      url: simulator.url,
      instructions: 'You remind people of an appointment.',
      line,
      history,
    };
    const session = openOpenAISession(config, listener);
    t.teardown(async () => {
      await session.close();
      const wrong = simulator.sessions().flatMap((one) => (one as { violations: unknown[] }).violations);
      await simulator.close();
      if (wrong.length > 0) throw new Error(`what no server would take: ${JSON.stringify(wrong)}`);
    });
    return session;
  });
}
