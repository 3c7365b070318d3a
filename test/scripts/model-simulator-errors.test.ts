// What the simulated model refuses, with the codes of the hosted API, and that a session survives each of it.
import t from 'tap';
import { startModelSimulator } from '../../scripts/model-simulator/simulator.ts';
import { Client, PHONE, type ServerEvent } from './model-simulator-client.ts';

const simulator = await startModelSimulator({ pacing: 'fast' });
t.teardown(() => simulator.close());
const client = new Client(simulator.url);
t.teardown(() => client.close());
await client.configure();
const greeting = await client.respond({ instructions: 'Greet the caller.' });
const agentItem: string = greeting.response.output[0]!.id;
const audioMs = Math.floor(client.audio().length / 8);

const session = (fields: Record<string, unknown>) => ({
  type: 'session.update',
  session: { type: 'realtime', ...fields },
});
const append = (bytes: number) => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.alloc(bytes, 0xff).toString('base64'),
});
const truncate = (item_id: string, audio_end_ms: number) => ({
  type: 'conversation.item.truncate',
  item_id,
  content_index: 0,
  audio_end_ms,
});

const cases: [name: string, event: Record<string, unknown>, error: Record<string, unknown>][] = [
  ['an unknown event', { type: 'session.nonsense' }, { code: 'invalid_event', param: 'type' }],
  ['an event without a type', {}, { code: 'invalid_event' }],
  [
    'an update without its session type',
    { type: 'session.update', session: { instructions: 'x' } },
    { code: 'missing_required_parameter', param: 'session.type' },
  ],
  [
    'a field that was dropped after the beta',
    session({ temperature: 0.8 }),
    {
      code: 'unknown_parameter',
      param: 'session.temperature',
      message: "Unknown parameter: 'session.temperature'.",
    },
  ],
  [
    'both modalities at once',
    session({ output_modalities: ['text', 'audio'] }),
    { code: 'array_above_max_length', param: 'session.output_modalities' },
  ],
  [
    'a format that does not exist',
    session({ audio: { input: { format: { type: 'audio/opus' } } } }),
    { code: 'invalid_value', param: 'session.audio.input.format.type' },
  ],
  [
    'PCM at another rate',
    session({ audio: { output: { format: { type: 'audio/pcm', rate: 16000 } } } }),
    { code: 'invalid_value', param: 'session.audio.output.format.rate' },
  ],
  [
    'an idle timeout out of range',
    session({ audio: { input: { turn_detection: { type: 'server_vad', idle_timeout_ms: 1000 } } } }),
    { code: 'integer_below_min_value', param: 'session.audio.input.turn_detection.idle_timeout_ms' },
  ],
  [
    'a strict tool, which only the Responses API has',
    session({ tools: [{ type: 'function', name: 'x', strict: true }] }),
    { code: 'unknown_parameter', param: 'session.tools[0].strict' },
  ],
  [
    'an unknown voice',
    session({ audio: { output: { voice: 'nobody' } } }),
    { param: 'session.audio.output.voice' },
  ],
  [
    'another voice after the agent has spoken',
    session({ audio: { output: { voice: 'cedar' } }, instructions: 'LOST' }),
    { code: 'cannot_update_voice' },
  ],
  ['another model', session({ model: 'gpt-other' }), { param: 'session.model' }],
  ['audio that is no base64', { type: 'input_audio_buffer.append', audio: '***' }, { param: 'audio' }],
  [
    'an empty commit',
    { type: 'input_audio_buffer.commit' },
    {
      code: 'input_audio_buffer_commit_empty',
      message: /at least 100ms of audio, but buffer only has 0\.00ms/,
    },
  ],
  ['a truncation of an unknown item', truncate('item_no', 0), { code: 'item_truncate_invalid_item_id' }],
  [
    'a truncation beyond the audio',
    truncate(agentItem, audioMs + 60),
    {
      code: 'invalid_value',
      param: 'audio_end_ms',
      message: `Audio content of ${audioMs}ms is already shorter than ${audioMs + 60}ms`,
    },
  ],
  [
    'a negative truncation',
    truncate(agentItem, -11),
    { code: 'integer_below_min_value', param: 'audio_end_ms' },
  ],
  ['a broken millisecond', truncate(agentItem, 10.5), { code: 'invalid_type', param: 'audio_end_ms' }],
  [
    'a deletion of an unknown item',
    { type: 'conversation.item.delete', item_id: 'item_no' },
    { code: 'item_delete_invalid_item_id' },
  ],
  [
    'a retrieval of an unknown item',
    { type: 'conversation.item.retrieve', item_id: 'item_no' },
    { code: 'item_retrieve_invalid_item_id' },
  ],
  [
    'assistant audio put in from outside',
    {
      type: 'conversation.item.create',
      item: { type: 'message', role: 'assistant', content: [{ type: 'output_audio', audio: '' }] },
    },
    { code: 'invalid_value', param: 'item.content[0].type' },
  ],
  [
    'a predecessor that does not exist',
    {
      type: 'conversation.item.create',
      previous_item_id: 'item_no',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] },
    },
    { param: 'previous_item_id' },
  ],
  [
    'the output of a call that was never made',
    {
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_no', output: '{}' },
    },
    { param: 'item.call_id' },
  ],
  [
    'a call_id that is too long',
    {
      type: 'conversation.item.create',
      item: { type: 'function_call', name: 'x', arguments: '{}', call_id: 'c'.repeat(33) },
    },
    { code: 'string_above_max_length', param: 'item.call_id' },
  ],
  ['a cancel with nothing to cancel', { type: 'response.cancel' }, { code: 'response_cancel_not_active' }],
  [
    'a reference to an unknown item',
    { type: 'response.create', response: { input: [{ type: 'item_reference', id: 'item_no' }] } },
    { param: 'response.input[0].id' },
  ],
];

for (const [index, [name, event, error]] of cases.entries()) {
  t.test(`${name} is refused`, async (t) => {
    const event_id = `case_${index}`;
    client.send({ ...event, event_id });
    const refused = await client.error();
    t.match(refused.error, { type: 'invalid_request_error', event_id, ...error });
  });
}

t.test('frames that are no events are refused', async (t) => {
  client.rt.socket.send('{"type":');
  t.match((await client.error()).error, { code: 'invalid_json', event_id: null });
  client.rt.socket.send(Buffer.from('{"type":"response.create"}'));
  t.match((await client.error()).error, { code: 'invalid_event' });
});

t.test('99 ms are too little for a commit, 100 ms are enough', async (t) => {
  client.send(append(99 * 8));
  client.send({ type: 'input_audio_buffer.commit' });
  t.match((await client.error()).error, {
    code: 'input_audio_buffer_commit_empty',
    message: /buffer only has 99\.00ms/,
  });
  client.send(append(8));
  client.send({ type: 'input_audio_buffer.commit' });
  await client.next('input_audio_buffer.committed');
  client.send(append(1600));
  client.send({ type: 'input_audio_buffer.clear' });
  await client.next('input_audio_buffer.cleared');
  client.send({ type: 'input_audio_buffer.commit' });
  t.match((await client.error()).error.message, /only has 0\.00ms/, 'a clear empties it');
});

t.test('a second response is refused while one runs, and the first goes on', async (t) => {
  client.send({ type: 'response.create' });
  client.send({ type: 'response.create', event_id: 'second' });
  t.match((await client.error()).error, {
    code: 'conversation_already_has_active_response',
    event_id: 'second',
    message: /active response in progress: resp_/,
  });
  t.equal((await client.next('response.done')).response.status, 'completed');
});

t.test('a refused update leaves everything as it was, a good one changes only what it names', async (t) => {
  client.send(session({ instructions: 'Be brief.' }));
  const updated = await client.next('session.updated');
  t.equal(updated.session.instructions, 'Be brief.');
  t.equal(updated.session.audio.output.voice, 'marin');
  t.same(updated.session.audio.input.format, { type: 'audio/pcmu' });
  t.equal(updated.session.audio.input.turn_detection, null);
  t.notOk(
    client.events.some((event: ServerEvent) => event.session?.instructions === 'LOST'),
    'the refused one left nothing behind',
  );
  client.send(session({ instructions: '', audio: { input: { transcription: null } }, tools: [] }));
  const cleared = await client.next('session.updated');
  t.equal(cleared.session.instructions, '');
  t.equal(cleared.session.audio.input.transcription, null);
});

t.test('every misuse is on the record', async (t) => {
  const codes = (simulator.sessions()[0]!.violations as { code: string }[]).map(({ code }) => code);
  for (const code of [
    'overlapping_response',
    'truncate_beyond_audio',
    'truncate_unknown_item',
    'commit_too_short',
    'unknown_call_id',
    'cannot_update_voice',
  ])
    t.ok(codes.includes(code), code);
});

t.test('a reasoning effort is refused by a model that has none', async (t) => {
  const old = new Client(simulator.url, 'sk-test', 'gpt-realtime-1.5');
  t.teardown(() => old.close());
  await old.next('session.created');
  old.send({ type: 'session.update', session: { ...PHONE, reasoning: { effort: 'low' } } });
  t.match((await old.error()).error, { param: 'session.reasoning' });
});
