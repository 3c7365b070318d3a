// A goodbye is heard to its end and ends the call, whatever sound the caller makes at the moment at which it is decided.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { CalleeInput } from '../../scripts/carrier-simulator/options.ts';
import { openRig } from './rig.ts';
import { wavOf, wordOfAssent } from './sounds.ts';

/** Around the moment of the tool call: a word of assent holds the agent's voice for three quarters of a second. */
const AFTER_AGENT_MS = [1_000, 1_200, 1_400, 1_600, 1_800, 2_000];

t.test('the agent ends the call while a word of the caller holds its voice back', async (t) => {
  const sounds = mkdtempSync(join(tmpdir(), 'offhook-sounds-'));
  t.teardown(() => rmSync(sounds, { recursive: true, force: true }));
  const mhm = join(sounds, 'mhm.wav');
  writeFileSync(mhm, wavOf(wordOfAssent()));
  const callees = AFTER_AGENT_MS.map((afterAgentMs, index): [string, CalleeInput] => [
    `+1415555070${index}`,
    {
      ringMs: 200,
      amd: { verdict: 'human', afterMs: 2_000 },
      steps: [{ do: 'barge_in', file: mhm, afterAgentMs }],
    },
  ]);
  const rig = await openRig(t, {
    carrier: { callees: Object.fromEntries(callees) },
    scenario: [join(import.meta.dirname, 'scenarios', 'goodbye.json')],
  });
  const agent = await rig.agent({ instructions: 'TEST-GOODBYE' });
  await Promise.all(
    callees.map(async ([to]) => {
      const { id } = await rig.dial(agent.id, to);
      t.match(await rig.ended(id), { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
      const [line] = (await rig.transcript(id)).filter(({ role }) => role === 'agent');
      t.match(line, { interrupted: false, heard_text: line?.text }, 'heard to its end');
    }),
  );
});
