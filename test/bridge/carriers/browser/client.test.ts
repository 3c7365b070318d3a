// The browser as a carrier: what it can do it never fails at, what it cannot it says in words for the agent.
import t from 'tap';
import { openBrowser } from '../../../../bridge/carriers/browser/client.ts';
import { type Carrier, NOT_POSSIBLE } from '../../../../bridge/carriers/carrier.ts';
import { carriers } from '../../../../bridge/carriers/carriers.ts';
import { mediaCarriers } from '../../../../bridge/carriers/media.ts';

const open = (seen: { at: string; answeredAt: string | null } | null = null) =>
  openBrowser({ lastSeen: async () => seen });

const CANNOT: Record<string, (carrier: Carrier) => Promise<unknown>> = {
  placeCall: (carrier) =>
    carrier.placeCall({
      callId: 'c',
      to: '',
      from: '',
      ringSeconds: 1,
      maxSeconds: 1,
      machineDetection: null,
    }),
  transfer: (carrier) => carrier.transfer('c', '+15550100', { callId: 'c', from: 'browser' }),
  sendDigits: (carrier) => carrier.sendDigits('c', '1', { callId: 'c' }),
  speakAndHangUp: (carrier) => carrier.speakAndHangUp('c', 'Goodbye.'),
  searchNumbers: (carrier) => carrier.searchNumbers({ country: 'US', type: 'local', limit: 1 }),
  buyNumber: (carrier) => carrier.buyNumber({ e164: '+15550100' }),
  releaseNumber: (carrier) => carrier.releaseNumber('PN1'),
};

for (const [verb, ask] of Object.entries(CANNOT)) {
  t.test(`${verb} is refused for good`, async (t) => {
    await t.rejects(ask(open()), {
      code: 'carrier_error',
      carrierCode: NOT_POSSIBLE,
      retryable: false,
      message: /\.$/,
    });
  });
}

t.test('ending a call never fails: it ends with its stream', async (t) => {
  t.equal(await open().hangUp('c'), 'already_ended');
  t.equal(await open().cancel('c'), 'already_ended');
  t.same(await open().findCalls({ to: '', from: '', since: '' }), []);
});

for (const [name, seen, expected] of [
  ['no such call', null, null],
  [
    'its stream never came',
    { at: '2026-03-01T12:00:00.000Z', answeredAt: null },
    { status: 'no_answer', startedAt: null, endedAt: '2026-03-01T12:00:00.000Z' },
  ],
  [
    'it had been talked',
    { at: '2026-03-01T12:01:00.000Z', answeredAt: '2026-03-01T12:00:10.000Z' },
    { status: 'completed', startedAt: '2026-03-01T12:00:10.000Z', endedAt: '2026-03-01T12:01:00.000Z' },
  ],
] as const) {
  t.test(`what became of a call: ${name}`, async (t) => {
    const snapshot = await open(seen).fetchCall('c');
    if (expected === null) t.equal(snapshot, null);
    else t.match(snapshot, { carrierCallId: 'c', durationSeconds: null, ...expected });
  });
}

t.test('every carrier has its media side, and is named as it is listed', async (t) => {
  t.same(Object.keys(mediaCarriers).sort(), Object.keys(carriers).sort());
  t.equal(open().name, 'browser');
});
