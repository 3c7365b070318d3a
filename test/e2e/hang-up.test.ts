// Every way a call ends asks the carrier to hang up once, or not at all; none of what is asked is refused.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, POLITE, until } from './rig.ts';

t.setTimeout(120_000);

const LISTENS = { ringMs: 200 };
const RINGS = { ringMs: 60_000 };
const LEAVES = {
  ringMs: 200,
  steps: [{ do: 'hang_up', when: { afterAgentSilenceMs: 500, timeoutMs: 30_000 } }],
};

t.test('one request for each call that we end', async (t) => {
  const callees = {
    '+14155550801': LISTENS,
    '+14155550802': LISTENS,
    '+14155550803': RINGS,
    '+14155550804': POLITE,
    '+14155550805': LEAVES,
  };
  const rig = await openRig(t, { carrier: { callees } as never });
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const ids = await Promise.all(Object.keys(callees).map(async (to) => (await rig.dial(agent.id, to)).id));
  const [hungUp, twice, canceled] = ids as [string, string, string];
  const talks = (id: string) =>
    until('the talk', async () => (await rig.transcript(id)).some(({ heard_text }) => heard_text !== ''));
  const ask = (id: string, what: string) => rig.lab.api('POST', `/v1/calls/${id}/${what}`);
  await Promise.all([talks(hungUp), talks(twice)]);
  await until('it to ring', async () => (await rig.call(canceled)).status === 'ringing');
  await Promise.all([
    ask(hungUp, 'hangup'),
    ask(twice, 'hangup'),
    ask(twice, 'hangup'),
    ask(canceled, 'cancel'),
  ]);
  await Promise.all(ids.map((id) => rig.ended(id)));

  const { calls } = await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
  const asked = Object.keys(callees).map((to) => {
    const call = calls.find((one) => one.to === to);
    return call?.updates.map(({ asked, code }) => [asked, code]);
  });
  t.same(asked, [
    [['Status=completed', null]],
    [['Status=completed', null]],
    [['Status=canceled', null]],
    [['Status=completed', null]],
    [],
  ]);
});
