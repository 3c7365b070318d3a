// The model's codec against events as the API documents them, and the events we build against the vendor's own types' shapes.
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import {
  cancelResponse,
  clearAudio,
  commitAudio,
  createItem,
  createResponse,
  deleteItem,
  sessionUpdate,
  truncateItem,
} from '../../../../bridge/models/openai/client-events.ts';
import type { ModelEvent } from '../../../../bridge/models/openai/server-events.ts';
import { createOpenAIWire } from '../../../../bridge/models/openai/wire.ts';
import { seeded } from '../../../random.ts';
import { oddly } from '../../odd-json.ts';
import { RUNS, SEED } from '../../seed.ts';
import { written } from '../../sockets/written.ts';
import { CONFIG } from './session-rig.ts';

const SOUND = Buffer.from(Array.from({ length: 333 }, (_, i) => (i * 13) & 0xff));
const CASES = 10_000;
/** What the next decode leaves alone. */
const copied = (event: ModelEvent): ModelEvent =>
  event.type === 'audio' ? { ...event, payload: Buffer.from(event.payload) } : event;
const decode = (event: unknown) =>
  createOpenAIWire().decode(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)), false);

for (const sound of [SOUND, Buffer.concat([SOUND, SOUND, SOUND])])
  t.test(`audio of ${sound.length} bytes in every layout`, async (t) => {
    const delta = sound.toString('base64');
    const expected = { type: 'audio', responseId: 'resp_1', itemId: 'item_1', payload: sound };
    const fields = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0, delta };
    const cases: Record<string, unknown> = {
      'the known layout': { type: 'response.output_audio.delta', event_id: 'event_1', ...fields },
      'the event id first': { event_id: 'event_1', type: 'response.output_audio.delta', ...fields },
      "the beta's name": { type: 'response.audio.delta', event_id: 'event_1', ...fields },
      'spaces between': JSON.stringify({ type: 'response.output_audio.delta', ...fields }, null, 1),
      'the audio not last': {
        type: 'response.output_audio.delta',
        delta,
        response_id: 'resp_1',
        item_id: 'item_1',
      },
      'a long head': { type: 'response.output_audio.delta', event_id: 'e'.repeat(700), ...fields },
      'slashes escaped': JSON.stringify({ type: 'response.output_audio.delta', ...fields }).replaceAll(
        '/',
        '\\/',
      ),
      'a field twice: the last counts': `{"type":"response.output_audio.delta","item_id":"another","response_id":"resp_1","item_id":"item_1","delta":"${delta}"}`,
      'an object within, with fields of the same names': {
        type: 'response.output_audio.delta',
        about: { type: 'error', item_id: 'another', response_id: 'another', delta: 'QUJD' },
        ...fields,
      },
      'an escape in the head': { type: 'response.output_audio.delta', event_id: '"delta":"x', ...fields },
    };
    for (const [name, event] of Object.entries(cases)) t.same(decode(event), expected, name);
  });

t.test('whatever comes, laid out as expected or nearly: read as JSON reads it', async (t) => {
  const random = seeded(SEED);
  /** The first mostly, as it comes. */
  const draw = <T>(from: readonly T[]): T => from[random() < 0.7 ? 0 : Math.floor(random() * from.length)]!;
  const long = Buffer.alloc(900, 7).toString('base64');
  const types = ['output_audio', 'audio', 'output_audio_transcript', 'text'];
  const ids = ['resp_1', 'item_1', '', 'é', 'a\\"b', '\\u0022', '\n', 'delta'];
  const deltas = [long, long, `${long}====`, `${long}"AAA`, `${long}\\/AAA`, ' word'.repeat(300), 'QUJD'];
  const pieces = [
    ' ',
    '"item_id":"another",',
    '"typ\\u0065":"error",',
    '"x":{"response_id":"another"},',
    '"x":{',
    '"x":["',
    `"delta":"${long}",`,
    '"',
    '}',
  ];
  const wire = createOpenAIWire();
  let sounds = 0;
  for (let n = 0; n < CASES * RUNS; n++) {
    const fields = [`"response_id":"${draw(ids)}"`, `"item_id":"${draw(ids)}"`, `"delta":"${draw(deltas)}"`];
    if (random() < 0.1) fields.reverse();
    const data = oddly(random, `{"type":"response.${draw(types)}.delta",${fields.join()}}`, pieces);
    const found = copied(wire.decode(data, false));
    if (found.type === 'audio') sounds++;
    // The same to JSON, and not the layout that is expected.
    const expected = copied(createOpenAIWire().decode(Buffer.concat([data, Buffer.from(' ')]), false));
    if (isDeepStrictEqual(found, expected)) continue;
    t.same(found, expected, `seed ${SEED}, case ${n}: ${data.toString('latin1')}`);
    return;
  }
  t.ok(sounds > CASES / 10, `${sounds} of sound among ${CASES * RUNS} events from seed ${SEED}`);
});

t.test('audio of any length, in one buffer', async (t) => {
  const wire = createOpenAIWire();
  for (const length of [0, 1, 2, 3, 160, 4000, 4097, 20_000]) {
    const payload = Buffer.alloc(length, length & 0xff);
    const event = wire.decode(
      Buffer.from(
        `{"type":"response.output_audio.delta","response_id":"r","item_id":"i","delta":"${payload.toString('base64')}"}`,
      ),
      false,
    );
    t.ok(event.type === 'audio' && event.payload.equals(payload), `${length} bytes`);
  }
});

t.test('what a codec keeps is its own, and no part of what many share', async (t) => {
  const wire = createOpenAIWire();
  for (const length of [160, 8_000]) {
    const fields = { response_id: 'r', item_id: 'i', delta: Buffer.alloc(length).toString('base64') };
    const event = { type: 'response.output_audio.delta', ...fields };
    const found = wire.decode(Buffer.from(JSON.stringify(event)), false);
    t.ok(found.type === 'audio' && found.payload.buffer.byteLength < Buffer.poolSize);
  }
});

t.test('a transcript that looks like audio is none', async (t) => {
  const event = {
    type: 'response.output_audio_transcript.delta',
    response_id: 'r',
    item_id: 'i',
    delta: 'QUJD',
  };
  t.same(decode(event), { type: 'text', responseId: 'r', itemId: 'i', delta: 'QUJD' });
});

t.test('words in every layout', async (t) => {
  const type = 'response.output_audio_transcript.delta';
  const fields = { event_id: 'event_1', response_id: 'resp_1', item_id: 'item_1', output_index: 0 };
  for (const words of [
    '',
    ' the',
    ' a "word"',
    'C:\\dir',
    'één\n',
    ' \u{1f600}',
    '\u2028',
    '{"delta":"x"}',
  ]) {
    const expected = { type: 'text', responseId: 'resp_1', itemId: 'item_1', delta: words };
    const event = { type, ...fields, content_index: 0, delta: words };
    const cases: Record<string, unknown> = {
      'the known layout': event,
      "the beta's name": { ...event, type: 'response.audio_transcript.delta' },
      'text alone': { ...event, type: 'response.output_text.delta' },
      "text alone, the beta's name": { ...event, type: 'response.text.delta' },
      'a field behind it': { ...event, obfuscation: 'xxxx' },
      'spaces between': JSON.stringify(event, null, 1),
      'other letters escaped': JSON.stringify(event).replace(
        /[^\x20-\x7f]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    };
    for (const [name, one] of Object.entries(cases)) t.same(decode(one), expected, `${name}: ${words}`);
  }
  t.same(
    decode(JSON.stringify({ type, ...fields, item_id: 'één', delta: 'x' })),
    { type: 'text', responseId: 'resp_1', itemId: 'één', delta: 'x' },
    'an id of other letters',
  );
  const broken = JSON.stringify({ type, ...fields, delta: 'one line' }).replace('one ', 'one\n');
  t.equal(decode(broken).type, 'malformed', 'no JSON');
});

t.test('deltas of items in turn, by one codec', async (t) => {
  const wire = createOpenAIWire();
  for (const id of ['1', '1', '22', '1', '222', '222', '2'])
    for (const type of ['response.output_audio.delta', 'response.output_audio_transcript.delta']) {
      const event = { type, event_id: 'e', response_id: `resp_${id}`, item_id: `item_${id}`, delta: 'QUJD' };
      const found = wire.decode(Buffer.from(JSON.stringify(event)), false);
      t.match(found, { responseId: `resp_${id}`, itemId: `item_${id}` });
    }
});

t.test('the other events', async (t) => {
  const cases: [string, unknown, unknown][] = [
    [
      'session.created',
      {
        type: 'session.created',
        event_id: 'e',
        session: { type: 'realtime', id: 's', expires_at: 1_800_000_000 },
      },
      { type: 'session-created', expiresAt: 1_800_000_000 },
    ],
    [
      'session.updated',
      {
        type: 'session.updated',
        session: {
          audio: {
            input: { format: { type: 'audio/pcmu' }, turn_detection: null },
            output: { format: { type: 'audio/pcmu' } },
          },
        },
      },
      {
        type: 'session-updated',
        expiresAt: null,
        inputFormat: 'audio/pcmu',
        outputFormat: 'audio/pcmu',
        turnDetection: null,
      },
    ],
    [
      'session.updated with detection',
      {
        type: 'session.updated',
        session: {
          audio: {
            input: { format: { type: 'audio/pcm', rate: 24000 }, turn_detection: { type: 'server_vad' } },
          },
        },
      },
      {
        type: 'session-updated',
        expiresAt: null,
        inputFormat: 'audio/pcm',
        outputFormat: '',
        turnDetection: 'server_vad',
      },
    ],
    [
      'committed',
      { type: 'input_audio_buffer.committed', item_id: 'i', previous_item_id: null },
      { type: 'committed', itemId: 'i' },
    ],
    [
      'transcription in seconds',
      {
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: 'i',
        transcript: 'Hi',
        usage: { type: 'duration', seconds: 2 },
      },
      { type: 'transcript', itemId: 'i', text: 'Hi', usage: { transcription_seconds: 2 } },
    ],
    [
      'transcription in tokens',
      {
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: 'i',
        transcript: 'Hi',
        usage: { type: 'tokens', total_tokens: 12 },
      },
      { type: 'transcript', itemId: 'i', text: 'Hi', usage: { transcription_tokens: 12 } },
    ],
    [
      'transcription failed',
      { type: 'conversation.item.input_audio_transcription.failed', item_id: 'i', error: { message: 'x' } },
      { type: 'transcript', itemId: 'i', text: null, usage: {} },
    ],
    [
      'response.created',
      {
        type: 'response.created',
        response: { id: 'r', status: 'in_progress', metadata: { request_id: 'c' } },
      },
      { type: 'response-created', responseId: 'r', requestId: 'c' },
    ],
    [
      'response.created, bare',
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response-created', responseId: 'r', requestId: null },
    ],
    [
      "the beta's text",
      { type: 'response.text.delta', response_id: 'r', item_id: 'i', delta: 'x' },
      { type: 'text', responseId: 'r', itemId: 'i', delta: 'x' },
    ],
    [
      "the beta's transcript",
      { type: 'response.audio_transcript.done', response_id: 'r', item_id: 'i', transcript: 'x' },
      { type: 'text-done', responseId: 'r', itemId: 'i', text: 'x' },
    ],
    [
      'text done',
      { type: 'response.output_text.done', response_id: 'r', item_id: 'i', text: 'x' },
      { type: 'text-done', responseId: 'r', itemId: 'i', text: 'x' },
    ],
    [
      'an item',
      {
        type: 'response.output_item.done',
        response_id: 'r',
        item: {
          id: 'i',
          type: 'function_call',
          status: 'completed',
          call_id: 'c',
          name: 'n',
          arguments: '{}',
        },
      },
      {
        type: 'output-item',
        responseId: 'r',
        done: true,
        item: {
          itemId: 'i',
          kind: 'tool-call',
          status: 'completed',
          toolCallId: 'c',
          name: 'n',
          argumentsJson: '{}',
        },
      },
    ],
    [
      'an error',
      { type: 'error', error: { type: 'invalid_request_error', code: null, message: 'm', event_id: 'e' } },
      { type: 'error', code: 'invalid_request_error', message: 'm', param: null, eventId: 'e' },
    ],
    [
      'an error of a bare text',
      { type: 'error', error: 'm' },
      { type: 'error', code: 'unknown', message: 'm', param: null, eventId: null },
    ],
    [
      'an event of tomorrow',
      { type: 'response.hologram.delta' },
      { type: 'ignored', event: 'response.hologram.delta' },
    ],
    [
      'an added item',
      { type: 'conversation.item.created', item: { id: 'i' } },
      { type: 'ignored', event: 'conversation.item.added' },
    ],
  ];
  for (const [name, event, expected] of cases) t.same(decode(event), expected, name);
});

t.test('the end of a response', async (t) => {
  const response = {
    id: 'r',
    status: 'failed',
    metadata: null,
    status_details: {
      type: 'failed',
      error: { type: 'server', code: 'rate_limit_exceeded', message: 'wait' },
    },
    output: [{ id: 'i', type: 'message', status: 'incomplete' }],
    usage: {
      total_tokens: 0,
      input_token_details: { text_tokens: 3, audio_tokens: 4 },
      output_token_details: null,
    },
  };
  t.match(decode({ type: 'response.done', response }), {
    type: 'response-done',
    status: 'failed',
    errorCode: 'rate_limit_exceeded',
    errorMessage: 'wait',
    items: [{ itemId: 'i', kind: 'message', status: 'incomplete' }],
    usage: { input_text_tokens: 3, input_audio_tokens: 4, cached_text_tokens: 0, cached_audio_tokens: 0 },
  });
  t.match(
    decode({
      type: 'response.done',
      response: { id: 'r', status: 'cancelled', status_details: { reason: 'turn_detected' } },
    }),
    {
      status: 'cancelled',
      reason: 'turn_detected',
      errorCode: null,
      items: [],
      usage: {},
    },
  );
  t.match(decode({ type: 'response.done', response: { id: 'r', status: 'exploded' } }), { status: 'failed' });
});

t.test('what is not the protocol is told, never thrown', async (t) => {
  const cases: unknown[] = [
    '',
    '{',
    'null',
    '[]',
    '5',
    {},
    { type: 5 },
    { type: 'response.done' },
    { type: 'response.done', response: { id: 5 } },
    { type: 'response.output_audio.delta', response_id: 'r', item_id: 'i', delta: '!!!!' },
    { type: 'response.output_audio.delta', response_id: 'r', item_id: 'i', delta: 5 },
    { type: 'response.output_audio.delta', delta: 'QUJD' },
    { type: 'response.output_audio_transcript.delta', response_id: 'r', item_id: 5, delta: 'x' },
    { type: 'response.output_audio_transcript.delta', response_id: 'r', delta: 'x' },
    { type: 'response.output_text.delta', response_id: 'r', item_id: 'i', delta: null },
    { type: 'error' },
    { type: 'input_audio_buffer.committed' },
    { type: '__proto__' },
  ];
  for (const event of cases) {
    const { type } = decode(event);
    t.ok(type === 'malformed' || type === 'ignored', JSON.stringify(event));
  }
  t.equal(createOpenAIWire().decode(Buffer.from('{}'), true).type, 'malformed', 'a binary frame');
});

t.test('appended audio, of one length and another', async (t) => {
  const wire = createOpenAIWire();
  for (const length of [320, 0, 1, 5000, 160]) {
    const payload = Buffer.alloc(length, 7);
    const { data, isBinary } = written((message) => wire.append(message, payload));
    t.notOk(isBinary);
    t.same(JSON.parse(data.toString()), {
      type: 'input_audio_buffer.append',
      audio: payload.toString('base64'),
    });
  }
});

t.test('the events we send', async (t) => {
  const read = (text: string) => JSON.parse(text);
  t.same(read(commitAudio('e')), { type: 'input_audio_buffer.commit', event_id: 'e' });
  t.same(read(clearAudio('e')), { type: 'input_audio_buffer.clear', event_id: 'e' });
  t.same(read(createResponse('e', null)), {
    type: 'response.create',
    event_id: 'e',
    response: { metadata: { request_id: 'e' } },
  });
  t.same(read(createResponse('e', 'x')).response, { metadata: { request_id: 'e' }, instructions: 'x' });
  t.same(read(cancelResponse('e', 'r')), { type: 'response.cancel', event_id: 'e', response_id: 'r' });
  t.same(read(truncateItem('e', 'i', 70)), {
    type: 'conversation.item.truncate',
    event_id: 'e',
    item_id: 'i',
    content_index: 0,
    audio_end_ms: 70,
  });
  t.same(read(deleteItem('e', 'i')), { type: 'conversation.item.delete', event_id: 'e', item_id: 'i' });
  t.same(read(createItem('e', { kind: 'text', id: 'i', role: 'assistant', text: 'x' }, 'before')), {
    type: 'conversation.item.create',
    event_id: 'e',
    previous_item_id: 'before',
    item: { id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
  });
  t.same(read(createItem('e', { kind: 'tool-output', id: null, toolCallId: 'c', output: 'o' })).item, {
    type: 'function_call_output',
    call_id: 'c',
    output: 'o',
  });
  const bare = read(
    sessionUpdate({ ...CONFIG, transcriptionModel: null, language: null, tools: [] }, 'e'),
  ).session;
  t.same(bare.audio.input, { format: { type: 'audio/pcmu' }, turn_detection: null });
  t.same(bare.tools, []);
  t.same(read(sessionUpdate({ ...CONFIG, language: null }, 'e')).session.audio.input.transcription, {
    model: 'gpt-transcribe',
  });
});
