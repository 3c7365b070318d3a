// The browser as a carrier: what it can do it never fails at, what it cannot it says in words for the agent.
import t from 'tap';
import { openBrowser } from '../../../../bridge/carriers/browser/carrier.ts';
import { type Line, NOT_POSSIBLE } from '../../../../bridge/carriers/carrier.ts';

const open = (seen: { at: string; answeredAt: string | null } | null = null) =>
  openBrowser({ lastSeen: async () => seen });

const CANNOT: Record<string, (line: Line) => Promise<unknown>> = {
  place: (line) =>
    line.place({ callId: 'c', to: '', from: '', ringSeconds: 1, maxSeconds: 1, machineDetection: null }),
  connect: (line) => line.connect('c', { callId: 'c', url: 'ws://127.0.0.1/media', token: 'one-time' }),
  reject: (line) => line.reject('c', 'busy'),
  transfer: (line) => line.transfer('c', '+15550100', { callId: 'c', from: 'browser' }),
  sendKeys: (line) => line.sendKeys('c', '1', { callId: 'c' }),
  sayAndHangUp: (line) => line.sayAndHangUp('c', { text: 'Goodbye.', language: 'en' }),
};

for (const [verb, ask] of Object.entries(CANNOT)) {
  t.test(`${verb} is refused for good`, async (t) => {
    await t.rejects(ask(open().line), {
      code: 'carrier_error',
      carrierCode: NOT_POSSIBLE,
      retryable: false,
      message: /\.$/,
    });
  });
}

t.test('ending a call never fails: it ends with its stream', async (t) => {
  t.equal(await open().line.hangUp('c', { answered: true }), 'already_ended');
  t.equal(await open().line.hangUp('c', { answered: false }), 'already_ended');
  t.same(await open().line.find({ callId: '', to: '', from: '', since: '' }), []);
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
    const snapshot = await open(seen).line.lookUp('c');
    if (expected === null) t.equal(snapshot, null);
    else t.match(snapshot, { carrierCallId: 'c', durationSeconds: null, ...expected });
  });
}
