// "Do not call me again": heard, by the words or as the agent understands it; noted with where it was said; confirmed, and the call
// ends when that was heard. The number is called no more.
import { join } from 'node:path';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, until } from './rig.ts';

const NOTED = 'I have noted it: we will not call this number again. Goodbye.';
const says = (file: string) => ({
  ringMs: 200,
  amd: { verdict: 'human' as const, afterMs: 2_000 },
  steps: [{ do: 'say' as const, file, when: { afterAgentSilenceMs: 1_300, timeoutMs: 20_000 } }],
});
const CALLER = '+15550720003';

t.test('who asks not to be called again', async (t) => {
  t.jobs = 3;
  const rig = await openRig(t, {
    carrier: {
      callees: {
        '+15550720001': says('caller-more-info.wav'),
        '+15550720002': says('caller-thanks.wav'),
      },
    },
    scenario: [join(import.meta.dirname, 'scenarios', 'opt-out.json')],
  });
  const { lab } = rig;
  type Entry = { number: string; source: string; call_id: string; item_id: string; at_ms: number };
  const entryOf = async (number: string) => {
    const { body } = await lab.api<{ data: Entry[] }>(
      'GET',
      `/v1/do_not_call?number=${encodeURIComponent(number)}`,
    );
    return body.data[0];
  };
  const refused = async (agent: string, to: string) =>
    (await lab.api<{ error: { code: string } }>('POST', '/v1/calls', { agent_id: agent, to })).body.error
      .code;

  await Promise.all([
    t.test('by his words: stored with their place, confirmed, and ended', async (t) => {
      const agent = await rig.agent({ instructions: 'TEST-OPT-OUT', language: 'en' });
      const { id } = await rig.dial(agent.id, '+15550720001');
      const call = await rig.ended(id);
      t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
      const talk = await rig.transcript(id);
      const asked = talk.find(({ role, text }) => role === 'caller' && /not call me again/.test(text));
      t.match(call.opted_out, { by: 'words', text: asked?.text, at_ms: asked?.start_ms });
      t.match(talk.at(-1), { role: 'agent', text: NOTED, heard_text: NOTED, interrupted: false });
      t.match(await entryOf('+15550720001'), {
        number: '+15550720001',
        source: 'said',
        call_id: id,
        item_id: asked?.id,
        at_ms: asked?.start_ms,
      });
      t.equal(await refused(agent.id, '+15550720001'), 'do_not_call');
    }),
    t.test('as the agent understands it: by its tool', async (t) => {
      const agent = await rig.agent({ instructions: 'TEST-OPT-OUT', language: 'de' });
      const { id } = await rig.dial(agent.id, '+15550720002');
      const call = await rig.ended(id);
      t.match(call.opted_out, { by: 'tool', text: /good idea/ });
      const spoken = (await rig.transcript(id)).filter(({ role }) => role === 'agent');
      t.match(spoken.at(-1), { heard_text: /Wir rufen diese Nummer nicht mehr an/, interrupted: false });
      t.match(await entryOf('+15550720002'), { source: 'said', call_id: id });
    }),
    t.test('on a call that came in: the number that called', async (t) => {
      const agent = await rig.agent({ instructions: 'TEST-OPT-OUT', type: 'inbound', language: 'en' });
      await lab.ask('carrier', '/inbound-calls', {
        from: CALLER,
        to: agent.number,
        callee: says('caller-more-info.wav'),
      });
      const call = await until('the call', async () => {
        const { body } = await lab.api<{ id: string; from_number: string }[]>(
          'GET',
          '/v1/calls?direction=inbound',
        );
        return body.find(({ from_number }) => from_number === CALLER);
      });
      t.match(await rig.ended(call.id), { opted_out: { by: 'words' }, hangup_cause: 'agent_ended' });
      t.match(await entryOf(CALLER), { source: 'said', call_id: call.id });
    }),
  ]);
  const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
  for (const leg of calls) t.same(leg.violations, []);
});
