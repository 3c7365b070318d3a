// The line of a call that another daemon has taken over: none of its commands reaches the carrier, whether or not something
// was written before it, and not between two tries of one either.
import t from 'tap';
import { CallLine } from '../../../bridge/calls/call-line.ts';
import type { Line } from '../../../bridge/carriers/carrier.ts';
import { openLog } from '../../../log.ts';
import { makeCall } from '../../storage/makers.ts';
import { standInCarrier } from '../carriers/stand-in.ts';

const OFFER = { callId: 'c', url: 'wss://calls.example.com/media/1/1/x/c', token: 'one-time' };

function openLine(o: { owned: () => boolean; fails?: boolean }) {
  const asked: string[] = [];
  const does = (verb: string) => async () => {
    asked.push(verb);
    if (o.fails === true) throw new Error('no answer');
    return verb === 'place' ? { carrierCallId: 'CA1' } : 'ended';
  };
  const verbs = ['place', 'hangUp', 'connect', 'sayAndHangUp', 'sendKeys', 'transfer', 'lookUp'] as const;
  const line = Object.fromEntries(verbs.map((verb) => [verb, does(verb)])) as unknown as Partial<Line>;
  const call = makeCall('org');
  const opened = new CallLine({
    callId: call.id,
    store: { mayWrite: async () => o.owned(), ownerOf: async () => null },
    mayHandOver: async (to) => !to.startsWith('+1900'),
    carrier: standInCarrier({ line }),
    log: openLog('silent'),
    ringSeconds: 60,
    maxSeconds: 3_600,
    pause: async () => {},
  });
  return { line: opened, call, asked };
}

const hangUp = { carrierCallId: 'CA1', answered: true };
const COMMANDS: [string, (opened: ReturnType<typeof openLine>) => Promise<unknown>][] = [
  ['place', ({ line, call }) => line.dial(call)],
  ['hangUp', ({ line }) => line.hangUp(hangUp)],
  ['hangUp', ({ line }) => line.endStray('CA1')],
  ['connect', ({ line }) => line.connect('CA1', OFFER)],
  [
    'sayAndHangUp',
    ({ line }) =>
      line.speakAndHangUp({
        do: 'speak-and-hang-up',
        carrierCallId: 'CA1',
        line: { text: 'Goodbye.', language: 'en' },
      }),
  ],
  [
    'sendKeys',
    ({ line }) => line.leave({ do: 'send-digits', carrierCallId: 'CA1', digits: '1', toolCallId: 't' }),
  ],
  [
    'transfer',
    ({ line }) =>
      line.leave({
        do: 'transfer',
        carrierCallId: 'CA1',
        to: '+14155550100',
        from: '+14155550199',
        toolCallId: 't',
      }),
  ],
];
for (const [verb, command] of COMMANDS) {
  t.test(verb, async (t) => {
    const own = openLine({ owned: () => true });
    await command(own);
    t.strictSame(own.asked, [verb], 'of a call of this daemon');
    const taken = openLine({ owned: () => false });
    await t.rejects(command(taken), { code: 'call_elsewhere' });
    t.strictSame(taken.asked, [], 'and of none that is another’s');
  });
}

t.test('a line that is hung up until it answers is let be once the call is another’s', async (t) => {
  let tries = 0;
  const opened = openLine({ owned: () => ++tries <= 2, fails: true });
  await opened.line.hangUpAtLast({ do: 'hang-up-at-last', ...hangUp });
  t.strictSame(opened.asked, ['hangUp', 'hangUp']);
});

t.test('a disk that cannot be read proves nothing: the line is commanded', async (t) => {
  const opened = openLine({
    owned() {
      throw new Error('input/output error');
    },
  });
  await opened.line.hangUp(hangUp);
  t.strictSame(opened.asked, ['hangUp']);
});

t.test('a call is not handed over to a number that the rules close', async (t) => {
  const { line, asked } = openLine({ owned: () => true });
  const to = (number: string) =>
    line.leave({ do: 'transfer', carrierCallId: 'CA1', toolCallId: 't', to: number, from: '+14155550199' });
  t.equal(await to('+19005551234'), 'refused');
  t.same(asked, []);
  t.equal(await to('+14155550100'), null);
  t.same(asked, ['transfer']);
});
