// A whole daemon on a store that answers late: each verb's effect and its answer take up to 20 ms, so that verbs nobody waits
// for overtake each other. Calls at once, each with all of its words, events and turns, in their order.
import { join } from 'node:path';
import t from 'tap';
import { openRig, until } from './rig.ts';

const CALLS = 3;

// Each has a lab of its own, and waits for calls most of its time.
t.jobs = 2;

t.test('calls on a store that answers late: every word, event and turn, and one end each', async (t) => {
  const rig = await openRig(t, {
    env: {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, '../storage/late-switch.ts')}`,
      LATE_STORE: '0-20ms@20261104',
    },
  });
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const calls = await Promise.all(
    Array.from({ length: CALLS }, (_none, at) => rig.dial(agent.id, `+1555040000${at}`)),
  );
  for (const { id } of calls) {
    t.match(await rig.ended(id), { status: 'completed', error_code: null, result_status: 'completed' });
    const path = `/v1/events?call_id=${id}`;
    t.same(
      (await rig.lab.api<{ data: { type: string }[] }>('GET', path)).body.data.map(({ type }) => type),
      ['call.completed', 'call.answered', 'call.ringing', 'call.queued'],
    );
    await until('its webhooks', () => rig.events(id).length === 4);
    t.same(
      rig.events(id).map(({ sequence }) => sequence),
      [1, 2, 3, 4],
    );
    const items = await rig.transcript(id);
    t.ok(
      items.some(({ role }) => role === 'caller'),
      'the words of the caller',
    );
    t.equal(items.at(-1)?.role, 'agent', 'and those of the agent, to the last');
    for (const item of items.filter(({ role, interrupted }) => role === 'agent' && !interrupted)) {
      t.equal(item.heard_text, item.text, 'as it was last told');
    }
  }
});

t.test('a call is hung up while the store answers late: one end', async (t) => {
  const rig = await openRig(t, {
    env: {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, '../storage/late-switch.ts')}`,
      LATE_STORE: '5ms',
    },
  });
  const agent = await rig.agent({ instructions: 'TEST-LONG' });
  const { id } = await rig.dial(agent.id, '+15550400010');
  await until('the answer', async () => (await rig.call(id)).status === 'in_progress');
  const ends = await Promise.all([
    rig.lab.api('POST', `/v1/calls/${id}/hangup`),
    rig.lab.api('POST', `/v1/calls/${id}/hangup`),
  ]);
  t.ok(ends.some(({ status }) => status === 200));
  t.match(await rig.ended(id), { status: 'completed', hangup_cause: 'hangup_requested' });
});
