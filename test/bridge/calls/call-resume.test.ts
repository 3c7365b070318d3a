// Whether a call that is without its stream gets another, and when time alone does something about it: by table.
import t from 'tap';
import {
  asksAt,
  briefStreams,
  canGoOn,
  givesUpAt,
  lookAt,
  lostEnd,
  lostSince,
} from '../../../bridge/calls/call-resume.ts';
import {
  type CallRules,
  type LiveState,
  newLiveState,
  type StreamState,
} from '../../../bridge/calls/live-state.ts';
import { LINE_TEXTS } from '../../../control/agents/texts/moments.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

const RULES: CallRules = {
  pricePerMinute: 0,
  reserveMinutes: 5,
  ringSeconds: 60,
  maxSeconds: 3_600,
  carrier: { streamIsCall: false, answerSeconds: null },
  texts: LINE_TEXTS,
};
const call = (fields: Partial<CallRecord> = {}) =>
  makeCall('o', { status: 'in_progress', answered_at: '2026-01-01T12:00:00.000Z', ...fields });
const lost = (fields: Partial<Extract<StreamState, { at: 'lost' }>> = {}): StreamState => ({
  at: 'lost',
  why: 'stream_lost',
  since: 10_000,
  brief: 0,
  toldAt: null,
  ...fields,
});
const on = (fields: Partial<Extract<StreamState, { at: 'on' }>> = {}): StreamState => ({
  at: 'on',
  fromMs: 0,
  brief: 0,
  lostAt: null,
  ...fields,
});
const live = (fields: Partial<LiveState> = {}): LiveState => ({
  ...newLiveState(0, 5),
  model: 'ready',
  token: 'used',
  stream: lost(),
  ...fields,
});
const stopped: StreamState = { at: 'stopped', atMs: 1_000, brief: 0 };
const byCarrier = { at: 9_000, speaking: false, talk: null };
const away: LiveState['away'] = {
  why: 'transfer',
  toolCallId: 'tool',
  since: 0,
  askedAt: 0,
  result: { ok: true },
  modelLost: false,
};

const GO_ON: [string, boolean, LiveState, Partial<CallRecord>?, CallRules['carrier']?][] = [
  ['lost, in the middle of a talk', true, live()],
  ['lost before the model is ready', true, live({ model: 'opening' })],
  ['there, as far as is known', true, live({ stream: on() })],
  ['there, after many that carried little', true, live({ stream: on({ brief: 5 }) })],
  ['never begun', false, live({ stream: { at: 'awaited' } })],
  [
    'stopped by the carrier, and nobody ended the talk',
    true,
    live({ stream: stopped, finishing: byCarrier }),
  ],
  ['stopped, and lost often before', false, live({ stream: { ...stopped, brief: 5 }, finishing: byCarrier })],
  ['four in a row that carried little', true, live({ stream: lost({ brief: 4 }) })],
  ['five in a row that carried little', false, live({ stream: lost({ brief: 5 }) })],
  ['over', false, live(), { status: 'completed' }],
  ['ended by us', false, live(), { hangup_cause: 'agent_ended' }],
  [
    'stopped after we ended it',
    false,
    live({ stream: stopped, finishing: byCarrier }),
    { hangup_cause: 'hangup_requested' },
  ],
  [
    'being ended',
    false,
    live({ line: { at: 'ending', since: 0, cause: 'agent_ended', unanswered: 'ask_again' } }),
  ],
  ['a last line is being said', false, live({ finishing: { ...byCarrier, speaking: true } })],
  ['lost when its end was decided', false, live({ finishing: byCarrier })],
  ['its thread has gone', false, live({ media: { at: 'none' } })],
  ['its thread lets go of it', false, live({ media: { at: 'releasing', since: 0, settle: 'result' } })],
  ['its model has gone', false, live({ model: 'gone' })],
  ['its line is elsewhere', false, live({ away })],
  ['the stream is the whole call', false, live(), {}, { streamIsCall: true, answerSeconds: 15 }],
];

for (const [name, expected, state, row = {}, carrier = RULES.carrier] of GO_ON) {
  t.test(`${name}: ${expected ? 'goes on' : 'does not'}`, async (t) => {
    t.equal(canGoOn(call(row), state, { ...RULES, carrier }), expected);
  });
}

type Due = { asks: number | null; givesUp: number | null; look: number | null };
const DUE: [string, LiveState, Due][] = [
  ['just lost', live(), { asks: 11_500, givesUp: 30_000, look: 11_500 }],
  [
    'told to bring the next one',
    live({ stream: lost({ toldAt: 10_050 }) }),
    { asks: 15_050, givesUp: 30_000, look: 15_050 },
  ],
  [
    'told for the last time',
    live({ stream: lost({ toldAt: 27_000 }) }),
    { asks: 32_000, givesUp: 30_000, look: 30_000 },
  ],
  [
    'that gets no other: the carrier may say why for a while',
    live({ stream: lost({ brief: 5 }) }),
    { asks: null, givesUp: 20_000, look: 20_000 },
  ],
  ['that is there', live({ stream: on() }), { asks: null, givesUp: null, look: null }],
  ['of a line that is elsewhere', live({ away }), { asks: null, givesUp: null, look: null }],
];

for (const [name, state, due] of DUE) {
  t.test(`a stream ${name}: ${JSON.stringify(due)}`, async (t) => {
    t.equal(asksAt(call(), state, RULES), due.asks);
    t.equal(givesUpAt(call(), state, RULES), due.givesUp);
    t.equal(lookAt(call(), state, RULES), due.look);
  });
}

t.test('nothing is looked at of a call that is over', async (t) => {
  t.equal(lookAt(call({ status: 'completed' }), live(), RULES), null);
});

const BRIEF: [string, StreamState, number, number][] = [
  ['the first, which carried little', on(), 3_000, 0],
  ['the second in a row that carried little', on({ fromMs: 20_000, brief: 2 }), 29_999, 2],
  ['one that carried enough', on({ fromMs: 20_000, brief: 4 }), 30_000, 0],
  ['one that was stopped', { ...stopped, brief: 3 }, 90_000, 3],
  ['none', { at: 'awaited' }, 0, 0],
];

for (const [name, stream, endMs, brief] of BRIEF) {
  t.test(`${name}: ${brief}`, async (t) => t.equal(briefStreams(stream, endMs), brief));
}

const SINCE: [string, StreamState, number, number][] = [
  ['the first one', on(), 0, 50_000],
  ['one after a loss, which carried something', on({ fromMs: 20_000, lostAt: 30_000 }), 20_020, 50_000],
  ['one after a loss, which carried nothing', on({ fromMs: 20_000, lostAt: 30_000 }), 20_000, 30_000],
];

for (const [name, stream, endMs, since] of SINCE) {
  t.test(`${name}: lost since ${since}`, async (t) => t.equal(lostSince(stream, endMs, 50_000), since));
}

t.test('a call ends for the reason its stream was lost for', async (t) => {
  for (const why of ['stream_lost', 'media_timeout', 'carrier_backpressure'] as const)
    t.match(lostEnd({ why }), { cause: why, error: { code: why, message: /\w/ } });
});
