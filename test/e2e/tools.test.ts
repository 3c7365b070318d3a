// The in-call tools that take the line out of the talk: a transfer and key tones, over the real wires. What was said
// before is heard to its end; the line comes back with a new stream, and the talk goes on with the tool's answer.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { ENDED, openRig, POLITE, until } from './rig.ts';

const DESK = '+15550109001';
const BUSY_DESK = '+15550109002';
const HAND_OFF = 'One moment, please. I will connect you with our front desk now.';
const thanks = { do: 'say', file: 'caller-thanks.wav' } as const;
const whenQuiet = { afterAgentSilenceMs: 700, timeoutMs: 20_000 };

t.test('tools that leave the line', async (t) => {
  const rig = await openRig(t, {
    env: { PRICE_PER_MINUTE_MILLI_CENTS: '6000' },
    carrier: {
      callees: {
        // Somebody at the desk, for longer than a call may stay without its stream for any other reason.
        [DESK]: {
          ringMs: 800,
          steps: [{ ...thanks, when: 'at_once' }, { do: 'wait', ms: 17_000 }, { do: 'hang_up' }],
        },
        [BUSY_DESK]: { ringMs: 300, outcome: 'busy' },
        '+15550100101': POLITE,
        '+15550100102': POLITE,
        '+15550100103': {
          ringMs: 300,
          steps: [
            { ...thanks, when: whenQuiet },
            { ...thanks, when: { afterAgentSilenceMs: 4_000, timeoutMs: 30_000 } },
          ],
        },
        '+15550100104': POLITE,
        '+15550100105': POLITE,
      },
    },
  });
  const carrierCalls = async () => (await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
  const atCarrier = async (to: string): Promise<CallReport> => {
    const found = (await carrierCalls()).find((call) => call.to === to);
    if (found === undefined) throw new Error(`the carrier knows no call to ${to}`);
    return found;
  };
  const desk = (number: string) => [{ type: 'transfer_call', targets: [{ name: 'front desk', number }] }];
  const toDesk = await rig.agent({ instructions: 'TEST-TRANSFER', tools: desk(DESK) });
  const toBusy = await rig.agent({ instructions: 'TEST-TRANSFER', tools: desk(BUSY_DESK) });
  const keys = await rig.agent({ instructions: 'TEST-DTMF', tools: [{ type: 'send_dtmf' }] });

  t.jobs = 5;

  t.test('a transfer: the hand-off line is heard to its end, then the two others talk', async (t) => {
    const dialled = await rig.dial(toDesk.id, '+15550100101');
    const call = await rig.ended(dialled.id, 90_000);
    t.match(call, {
      status: 'completed',
      hangup_cause: 'transferred',
      error_code: null,
      reservation_status: 'settled',
    });
    const lines = await rig.transcript(call.id);
    const handOff = lines.find((line) => line.text === HAND_OFF);
    t.match(handOff, { role: 'agent', heard_text: HAND_OFF, interrupted: false });
    t.ok(lines.some((line) => line.role === 'tool' && line.text === 'transfer_call: front desk'));
    const first = await atCarrier(call.to_number);
    const second = (await carrierCalls()).find((leg) => leg.parentSid === first.sid);
    if (second === undefined) throw new Error('nobody was called at the desk');
    t.equal(second.to, DESK);
    t.equal(second.from, call.from_number, 'it shows the number the call was placed from');
    t.ok((second.durationSeconds ?? 0) >= 17, `the two talked for ${second.durationSeconds} s, uncut`);
    t.equal(second.endedBy, 'callee');
    t.same([...first.violations, ...first.errors], []);
    t.equal(first.streams.length, 1);
    t.ok(
      (call.billed_duration_seconds ?? 0) >= (second.durationSeconds ?? 0),
      'the minutes of the talk that followed are connected time too',
    );
    t.equal(call.billing_amount_milli_cents, (call.billed_duration_seconds ?? 0) * 100);
  });

  t.test('a transfer to a busy line: the caller comes back to the agent, which knows why', async (t) => {
    const dialled = await rig.dial(toBusy.id, '+15550100102');
    const call = await rig.ended(dialled.id, 90_000);
    t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
    const lines = await rig.transcript(call.id);
    const said = lines.filter((line) => line.role === 'agent');
    t.same(
      said.map((line) => [line.text, line.heard_text, line.interrupted]).slice(1),
      [HAND_OFF, 'I am sorry, our front desk is busy. Please call again later. Goodbye.'].map((text) => [
        text,
        text,
        false,
      ]),
      'each line was heard to its end',
    );
    const first = await atCarrier(call.to_number);
    t.equal((await atCarrier(BUSY_DESK)).status, 'busy');
    t.equal(first.streams.length, 2, 'a stream before, and one after');
    const tokens = first.streams.map((stream) => JSON.stringify(stream));
    t.not(tokens[0], tokens[1]);
    t.same([...first.violations, ...first.errors], []);
  });

  t.test('key tones: heard by the other side; the stream comes back and the talk goes on', async (t) => {
    const dialled = await rig.dial(keys.id, '+15550100103');
    const call = await rig.ended(dialled.id, 90_000);
    t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
    const first = await atCarrier(call.to_number);
    t.equal(first.digitsHeard, '1w2#');
    t.equal(first.streams.length, 2);
    t.same([...first.violations, ...first.errors], []);
    const lines = await rig.transcript(call.id);
    t.same(
      lines.filter((line) => line.role === 'agent').map((line) => [line.text, line.heard_text]),
      [
        'Hello, I am calling about an appointment.',
        'I am pressing the keys for the front desk now.',
        'I have pressed the keys. Who am I talking to, please?',
        'Thank you. Goodbye.',
      ].map((text) => [text, text]),
      'the answer of the tool came, and the other side was heard again',
    );
    const { data } = await rig.lab.ask<{
      data: {
        config: { instructions: string };
        violations: unknown[];
        items: { type: string; output?: string }[];
      }[];
    }>('model', '/sessions');
    const sessions = data.filter((one) => one.config.instructions.includes('TEST-DTMF'));
    t.equal(sessions.length, 1, 'one session of the model holds all of it');
    t.same(sessions[0]?.violations, []);
  });

  t.test('a carrier that refuses: the line never leaves, and the agent is told so', async (t) => {
    const dialled = await rig.dial(toBusy.id, '+15550100105');
    const { sid } = await atCarrier(dialled.to_number);
    await rig.lab.ask('carrier', '/faults', {
      do: 'status',
      method: 'POST',
      path: `/Calls/${sid}.json`,
      status: 400,
      code: 21218,
    });
    const said = await until('the agent to go on', async () => {
      const lines = await rig.transcript(dialled.id);
      const at = lines.findIndex((line) => line.text === HAND_OFF);
      return at >= 0 && lines.slice(at).some((line) => line.heard_text === 'All right.') ? lines : null;
    });
    t.equal(said.find((line) => line.text === HAND_OFF)?.interrupted, false);
    t.equal((await atCarrier(dialled.to_number)).streams.length, 1);
    await rig.lab.api('POST', `/v1/calls/${dialled.id}/hangup`);
    t.match(await rig.ended(dialled.id), { status: 'completed', hangup_cause: 'hangup_requested' });
  });

  t.test('the operator ends a call that was handed over', async (t) => {
    const dialled = await rig.dial(toDesk.id, '+15550100104');
    await until('the two to talk', async () => {
      const legs = await carrierCalls();
      const first = legs.find((leg) => leg.to === '+15550100104');
      return legs.some((leg) => leg.parentSid === first?.sid && leg.answeredAtMs !== null);
    });
    const ended = await rig.lab.api<{ status: string; hangup_cause: string }>(
      'POST',
      `/v1/calls/${dialled.id}/hangup`,
    );
    t.match(ended, { status: 200, body: { status: 'completed', hangup_cause: 'hangup_requested' } });
    await until('the carrier to see it', async () => (await atCarrier('+15550100104')).endedAtMs !== null);
    t.ok(ENDED.includes((await rig.ended(dialled.id)).status));
  });
});
