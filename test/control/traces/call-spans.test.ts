// A call as spans: which there are, how they lie in each other, and that no word and no number is among them.
import t from 'tap';
import { callSpans } from '../../../control/traces/call-spans.ts';
import { at, makeCall, makeInterruption, makeItem, makeTurn } from '../../storage/makers.ts';

const ORG = '0199a000-0000-7000-8000-000000000001';
const ms = (offset: number) => Date.parse(at(offset));

const call = makeCall(ORG, {
  status: 'completed',
  started_at: at(1_000),
  answered_at: at(3_000),
  stream_began_at: at(3_500),
  ended_at: at(20_000),
  model: 'gpt-realtime',
  result: { secret: 'plum' },
  result_status: 'completed',
  extraction_usage: { attempts: 1, input_tokens: 300, cached_tokens: 0, output_tokens: 20 },
  gaps: [{ why: 'stream_lost', started_at: at(9_000), from_ms: 5_500, to_ms: 6_500 }],
});
const facts = {
  call,
  turns: [
    makeTurn(call.id, {
      turn_index: 1,
      kind: 'greeting',
      speech_end_ms: null,
      decided_ms: 0,
      requested_ms: 1,
    }),
    makeTurn(call.id, { turn_index: 2, requested_ms: 4_900 }),
    makeTurn(call.id, {
      turn_index: 3,
      requested_ms: null,
      first_model_audio_ms: null,
      first_sent_ms: null,
      first_heard_ms: null,
    }),
  ],
  interruptions: [makeInterruption(call.id, { at_ms: 7_000, taken_back: true })],
  transcript: [
    makeItem(call.id, { role: 'caller', text: 'My name is plum.', start_ms: 2_000, end_ms: 4_660 }),
    makeItem(call.id, {
      role: 'tool',
      text: JSON.stringify({ name: 'look_up', arguments: '{"name":"plum"}', ok: false, output: 'plum' }),
      start_ms: 5_000,
      end_ms: 5_400,
    }),
    makeItem(call.id, { role: 'tool', text: 'send_dtmf: plum', start_ms: 6_000, end_ms: null }),
    makeItem(call.id, { role: 'system', text: 'Pressed plum.', start_ms: 6_100, end_ms: null }),
  ],
  toldAt: at(21_000),
};

t.test('a call with turns, tools, a gap and a result', async (t) => {
  const spans = callSpans(facts);
  const shape = spans.map(({ name, parent, startMs, endMs }) => [
    name,
    parent === null ? null : spans[parent]?.name,
    Math.round((startMs - ms(0)) * 10) / 10,
    Math.round((endMs - ms(0)) * 10) / 10,
  ]);
  t.strictSame(shape, [
    ['call outbound', null, 0, 20_000],
    ['ring', 'call outbound', 1_000, 3_000],
    ['talk', 'call outbound', 3_000, 20_000],
    ['turn greeting', 'talk', 3_500, 9_140.8],
    ['model request', 'turn greeting', 3_501, 9_061.9],
    ['turn answer', 'talk', 8_160, 9_140.8],
    ['model request', 'turn answer', 8_400, 9_061.9],
    ['turn answer', 'talk', 8_160, 8_680.5],
    ['speech caller', 'talk', 5_500, 8_160],
    ['tool look_up', 'talk', 8_500, 8_900],
    ['tool send_dtmf', 'talk', 9_500, 9_500],
    ['line gap', 'talk', 9_000, 10_000],
    ['model extraction', 'call outbound', 20_000, 21_000],
  ]);
  t.match(spans[2]?.events, [{ name: 'interruption taken back', atMs: ms(10_500) }]);
  t.match(spans[5]?.attributes, { 'offhook.turn.index': 2, 'offhook.turn.latency_ms': 981 });
  t.match(spans[6]?.attributes, { 'gen_ai.request.model': 'gpt-realtime' });
  t.match(spans[9], {
    error: 'failed',
    attributes: { 'gen_ai.tool.name': 'look_up', 'offhook.tool.ok': false },
  });
  t.match(spans[12]?.attributes, { 'gen_ai.usage.input_tokens': 300 });
  t.equal(spans[0]?.error, null);
  t.notMatch(
    JSON.stringify(spans),
    /plum|\+1415|calm assistant|clinic|Ann/,
    'no word, no number, no argument',
  );
});

t.test('a call that nobody took, one that failed, one of a great many turns', async (t) => {
  const base = { turns: [], interruptions: [], transcript: [], toldAt: at(9_000) };
  const none = makeCall(ORG, { status: 'no_answer', started_at: at(10), ended_at: at(8_000) });
  t.strictSame(
    callSpans({ ...base, call: none }).map(({ name, error }) => [name, error]),
    [
      ['call outbound', null],
      ['ring', null],
    ],
  );
  const failed = makeCall(ORG, { status: 'failed', direction: 'inbound', error_code: 'model_lost' });
  t.match(callSpans({ ...base, call: failed }), [
    {
      name: 'call inbound',
      kind: 'server',
      error: 'model_lost',
      endMs: ms(9_000),
      attributes: { 'error.type': 'model_lost' },
    },
  ]);
  const turns = Array.from({ length: 3_000 }, (_, i) => makeTurn(call.id, { turn_index: i + 1 }));
  const many = callSpans({ ...facts, turns });
  t.equal(many.length, 1_000);
  t.equal(many[0]?.attributes['offhook.spans_left_out'], 6_000 + 4 - (1_000 - 4));
  for (const [index, { parent }] of many.entries())
    if (parent !== null && parent >= index) t.fail(`${index}`);
});
