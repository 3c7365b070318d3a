// A conversation with the simulated model through the unchanged openai client: order of events, sound, turns, cuts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import wavefile from 'wavefile';
import { type ModelSimulatorOptions, startModelSimulator } from '../../scripts/model-simulator/simulator.ts';
import { Client, fromMulaw, PHONE, rms, sound, spokenIn, toMulaw } from './model-simulator-client.ts';

const JFK =
  'And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.';

async function setup(test: Test, options: ModelSimulatorOptions = {}) {
  const simulator = await startModelSimulator({ pacing: 'fast', ...options });
  test.teardown(() => simulator.close());
  return simulator;
}

async function dial(test: Test, url: string): Promise<Client> {
  const client = new Client(url);
  test.teardown(() => client.close());
  return client;
}

/** A long reply that leaves slowly enough to be cut. */
const LONG = {
  rules: [
    { on: 'any', say: 'Let me explain how this works. First, we take your request and write it down.' },
  ],
  pacing: { base: 'fast', speed: [3, 3], delta_ms: [60, 90] },
};

t.test('a new session has the defaults that hurt', async (t) => {
  const { url } = await setup(t);
  const client = await dial(t, url);
  const { session } = await client.next('session.created');
  t.equal(session.audio.input.turn_detection?.type, 'server_vad');
  t.equal(session.audio.input.turn_detection?.create_response, true);
  t.same(session.audio.input.format, { type: 'audio/pcm', rate: 24000 });
  t.same(session.audio.output.format, { type: 'audio/pcm', rate: 24000 });
  t.equal(session.audio.input.transcription, null);
  t.ok(session.expires_at > Date.now() / 1000 + 3500);
});

t.test('audio sent before the configuration earns an unwanted reply, and is noted', async (t) => {
  const simulator = await setup(t);
  const client = await dial(t, simulator.url);
  await client.next('session.created');
  const speech = toMulaw(sound('jfk-8k.wav').subarray(0, 8000 * 4));
  client.send({ type: 'input_audio_buffer.append', audio: speech.toString('base64') });
  client.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48000).toString('base64') });
  await client.next('input_audio_buffer.speech_started');
  await client.next('response.created');
  const [session] = simulator.sessions();
  t.match(session!.violations, [{ code: 'audio_before_configuration' }]);
});

t.test('a caller turn gives the documented order of events and an answer to what was said', async (t) => {
  const simulator = await setup(t);
  const client = await dial(t, simulator.url);
  const updated = await client.configure();
  t.equal(updated.session.audio.input.turn_detection, null);
  t.same(updated.session.audio.output.format, { type: 'audio/pcmu' });
  const itemId = await client.say(toMulaw(sound('jfk-8k.wav')));
  const done = await client.respond({ metadata: { asked: 'now' } });
  t.equal(done.response.status, 'completed');
  t.same(done.response.metadata, { asked: 'now' });

  const order = client.events
    .map(({ type }) => type)
    .filter((type) => !/transcription|delta|rate_limits/.test(type))
    .slice(2);
  t.same(order, [
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.done',
    'response.created',
    'response.output_item.added',
    'conversation.item.added',
    'response.content_part.added',
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'response.output_item.done',
    'conversation.item.done',
    'response.done',
  ]);
  const types = client.events.map(({ type }) => type);
  t.ok(
    types.indexOf('response.output_audio_transcript.delta') < types.indexOf('response.output_audio.delta'),
    'the transcript leads',
  );
  const spoken = client.events.find(
    ({ type }) => type === 'response.output_audio_transcript.done',
  )!.transcript;
  t.equal(spoken, `I heard you say: ${JFK} Is there anything else I can do for you?`);
  const deltas = client.events.filter(({ type }) => type === 'response.output_audio_transcript.delta');
  t.equal(deltas.map(({ delta }) => delta).join(''), spoken);

  const transcript = await new Promise((resolve) => {
    const look = () => {
      const found = client.events.find(({ type }) => /transcription.completed/.test(type));
      if (found) resolve(found);
      else client.rt.once('event', () => look());
    };
    look();
  });
  t.match(transcript, { item_id: itemId, transcript: JFK, usage: { type: 'duration', seconds: 11 } });
  t.match(done.response.usage, {
    input_token_details: { audio_tokens: 110 },
    total_tokens: done.response.usage.input_tokens + done.response.usage.output_tokens,
  });
});

t.test(
  'spoken answers are audible, as long as the words ask for, in uneven pieces, in each format',
  async (t) => {
    const { url } = await setup(t);
    const text = 'Hello, this is the automated assistant. How can I help you?';
    for (const [format, bytesPerMs] of [
      ['audio/pcmu', 8],
      ['audio/pcma', 8],
      ['audio/pcm', 48],
    ] as const) {
      const client = await dial(t, url);
      await client.configure({
        type: 'realtime',
        audio: {
          input: { turn_detection: null },
          output: { format: format === 'audio/pcm' ? { type: format, rate: 24000 } : { type: format } },
        },
      });
      await client.respond({ instructions: 'Greet the caller.' });
      const audio = client.audio();
      const ms = audio.length / bytesPerMs;
      const words = text.split(' ').length;
      t.ok(ms > words * 180 && ms < words * 550, `${format}: ${Math.round(ms)} ms for ${words} words`);
      const wav = new wavefile.WaveFile();
      if (format === 'audio/pcm') {
        const samples = new Int16Array(audio.length / 2);
        for (let i = 0; i < samples.length; i++) samples[i] = audio.readInt16LE(2 * i);
        t.ok(rms(samples) > 500, `${format} is loud enough`);
      } else {
        wav.fromScratch(1, 8000, format === 'audio/pcmu' ? '8m' : '8a', audio);
        if (format === 'audio/pcmu') wav.fromMuLaw('16');
        else wav.fromALaw('16');
        const samples = Int16Array.from(wav.getSamples(false, Int16Array) as unknown as Int16Array);
        t.ok(rms(samples) > 500, `${format} is loud enough`);
        // Noise, as a wrong codec gives, would be about as loud everywhere; speech has pauses.
        const frames = Array.from({ length: Math.floor(samples.length / 160) }, (_, i) =>
          rms(samples.subarray(i * 160, i * 160 + 160)),
        ).sort((a, b) => a - b);
        t.ok(
          frames[Math.floor(frames.length * 0.1)]! < 0.05 * frames[Math.floor(frames.length * 0.9)]!,
          'there are pauses',
        );
      }
      const pieces = client.events.filter(({ type }) => type === 'response.output_audio.delta');
      const sizes = pieces.map(({ delta }) => Buffer.from(delta, 'base64').length);
      t.ok(new Set(sizes).size > 2, 'sizes differ');
      t.notOk(
        sizes.slice(0, -1).some((size) => size % (20 * bytesPerMs) === 0),
        'no piece is whole 20 ms frames',
      );
    }
  },
);

t.test('the three formats carry the same speech', async (t) => {
  const { url } = await setup(t);
  const spoken: Int16Array[] = [];
  for (const format of [{ type: 'audio/pcmu' }, { type: 'audio/pcm', rate: 24000 }]) {
    const client = await dial(t, url);
    await client.configure({
      type: 'realtime',
      audio: { input: { turn_detection: null }, output: { format } },
    });
    await client.respond({ instructions: 'Greet the caller.' });
    const audio = client.audio();
    if (format.type === 'audio/pcmu') spoken.push(fromMulaw(audio));
    else spoken.push(Int16Array.from({ length: audio.length / 6 }, (_, i) => audio.readInt16LE(6 * i)));
  }
  const [mulaw, pcm] = spoken as [Int16Array, Int16Array];
  t.equal(mulaw.length, pcm.length, 'same length');
  let product = 0;
  for (let i = 0; i < mulaw.length; i++) product += mulaw[i]! * pcm[i]!;
  t.ok(product / (mulaw.length * rms(mulaw) * rms(pcm)) > 0.98, 'every third sample of the one is the other');
});

t.test('a cancelled response ends as cancelled, with its item incomplete', async (t) => {
  const { url } = await setup(t, { scenario: LONG });
  const client = await dial(t, url);
  await client.configure();
  client.send({ type: 'response.create' });
  const { response } = await client.next('response.created');
  await client.next('response.output_audio.delta');
  client.send({ type: 'response.cancel', response_id: response.id });
  const done = await client.next('response.done');
  t.match(done.response, {
    id: response.id,
    status: 'cancelled',
    status_details: { type: 'cancelled', reason: 'client_cancelled' },
    output: [{ status: 'incomplete' }],
  });
  const after = client.events.slice(client.events.indexOf(done));
  t.notOk(
    after.some(({ type }) => type === 'response.output_audio.delta'),
    'no audio after the end',
  );
  t.equal((await client.respond()).response.status, 'completed', 'the next response is taken');
});

t.test('a cancel before response.created changes nothing', async (t) => {
  const { url } = await setup(t);
  const client = await dial(t, url);
  await client.configure();
  client.send({ type: 'response.create' });
  client.send({ type: 'response.cancel', event_id: 'early' });
  t.match((await client.error()).error, { code: 'response_cancel_not_active', event_id: 'early' });
  t.equal((await client.next('response.done')).response.status, 'completed');
});

t.test('a truncation leaves the words that were heard, and takes the transcript away', async (t) => {
  const simulator = await setup(t);
  const client = await dial(t, simulator.url);
  await client.configure();
  const done = await client.respond({ instructions: 'Greet the caller.' });
  const item = done.response.output[0]!;
  const totalMs = client.audio().length / 8;
  client.send({
    type: 'conversation.item.truncate',
    item_id: item.id,
    content_index: 0,
    audio_end_ms: Math.floor(totalMs / 2),
  });
  await client.next('conversation.item.truncated');
  const [session] = simulator.sessions();
  const known = (session!.items as Record<string, unknown>[])[0]!;
  t.equal(known.truncated_ms, Math.floor(totalMs / 2));
  t.match(known.believed_text, /^Hello, this is the/);
  t.notMatch(known.believed_text, /help you/);
  t.equal(known.generated_text, 'Hello, this is the automated assistant. How can I help you?');
  client.send({ type: 'conversation.item.retrieve', item_id: item.id });
  t.equal((await client.next('conversation.item.retrieved')).item.content[0]?.transcript, null);
  client.send({ type: 'conversation.item.truncate', item_id: item.id, content_index: 0, audio_end_ms: 0 });
  await client.next('conversation.item.truncated');
  t.equal(
    (simulator.sessions()[0]!.items as { believed_text: string }[])[0]!.believed_text,
    '',
    'at 0 nothing was heard',
  );
});

t.test('a tool is called after a preamble, and its result is spoken', async (t) => {
  const simulator = await setup(t, { scenario: 'order-line' });
  const client = await dial(t, simulator.url);
  await client.configure({
    ...PHONE,
    tools: [
      {
        type: 'function',
        name: 'lookup_order',
        description: 'Finds an order',
        parameters: {
          type: 'object',
          properties: { order_number: { type: 'string' } },
          required: ['order_number'],
        },
      },
    ],
  });
  await client.say(toMulaw(sound('caller-more-info.wav')));
  const done = await client.respond();
  t.match(done.response.output, [
    { type: 'message' },
    { type: 'function_call', name: 'lookup_order', status: 'completed' },
  ]);
  const call = done.response.output[1]!;
  t.same(JSON.parse(call.arguments), { order_number: '1042' });
  t.ok(call.call_id.length <= 32);
  const argumentsDone = client.events.find(({ type }) => type === 'response.function_call_arguments.done');
  t.match(argumentsDone, { call_id: call.call_id, name: 'lookup_order', arguments: call.arguments });
  client.send({
    type: 'conversation.item.create',
    item: {
      type: 'function_call_output',
      call_id: call.call_id,
      output: JSON.stringify({ order_number: '1042', status: 'shipped', delivery_date: 'Tuesday' }),
    },
  });
  await client.next('conversation.item.done');
  const answer = await client.respond();
  t.equal(
    spokenIn(answer.response.output[0]),
    'I have found your order. The order number is 1042. The status is shipped. Delivery is planned for Tuesday. Is there anything else I can do for you?',
  );
  t.same(simulator.sessions()[0]!.violations, []);
});

t.test('end_call is called only where it is offered, with the arguments it demands', async (t) => {
  const simulator = await setup(t);
  const client = await dial(t, simulator.url);
  const tool = {
    type: 'function',
    name: 'end_call',
    parameters: {
      type: 'object',
      properties: { reason: { type: 'string', enum: ['done', 'other'] } },
      required: ['reason'],
    },
  };
  await client.configure({ ...PHONE, tools: [tool] });
  await client.say(toMulaw(sound('caller-thanks.wav')));
  const done = await client.respond();
  t.same(JSON.parse(done.response.output[1]!.arguments), { reason: 'done' });

  const other = await dial(t, simulator.url);
  await other.configure();
  await other.say(toMulaw(sound('caller-thanks.wav')));
  t.equal((await other.respond()).response.output.length, 1);
  t.match(simulator.sessions()[1]!.notes, [{ code: 'tool_not_offered' }]);
});

t.test('history put into a new session is what the answer goes by', async (t) => {
  const { url } = await setup(t);
  const client = await dial(t, url);
  await client.configure();
  for (const item of [
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello, how can I help you?' }],
    },
    { type: 'function_call', name: 'lookup_order', call_id: 'call_1', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: '{}' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'I need a table for two' }] },
  ])
    client.send({ type: 'conversation.item.create', item });
  const done = await client.respond();
  t.equal(
    spokenIn(done.response.output[0]),
    'I heard you say: I need a table for two. Is there anything else I can do for you?',
  );
  const added = client.events.filter(({ type }) => type === 'conversation.item.added');
  t.equal(added[0]!.previous_item_id, null);
  t.equal(added[3]!.previous_item_id, added[2]!.item.id);
  client.send({ type: 'conversation.item.delete', item_id: added[0]!.item.id });
  t.equal((await client.next('conversation.item.deleted')).item_id, added[0]!.item.id);
  client.send({
    type: 'conversation.item.create',
    previous_item_id: 'root',
    item: {
      id: 'item_mine',
      type: 'message',
      role: 'system',
      content: [{ type: 'input_text', text: 'Be brief.' }],
    },
  });
  t.match(await client.next('conversation.item.added'), {
    previous_item_id: null,
    item: { id: 'item_mine' },
  });
});

t.test('a rule may go by what the client has told the model since the last words', async (t) => {
  const { url } = await setup(t, {
    scenario: {
      rules: [
        { on: 'caller', told: 'cut off', say: 'I was looking it up.' },
        { on: 'any', say: 'All right.' },
      ],
    },
  });
  const client = await dial(t, url);
  await client.configure();
  const message = (role: string, text: string) =>
    client.send({
      type: 'conversation.item.create',
      item: { type: 'message', role, content: [{ type: 'input_text', text }] },
    });
  message('user', 'Where is my order?');
  message('system', 'You had called the tool when the line was cut off.');
  t.equal(spokenIn((await client.respond()).response.output[0]), 'I was looking it up.');
  message('user', 'And now?');
  t.equal(
    spokenIn((await client.respond()).response.output[0]),
    'All right.',
    'not what was told before that',
  );
});

t.test('a response out of band runs beside another and joins no conversation', async (t) => {
  const simulator = await setup(t, {
    scenario: { ...LONG, rules: [{ on: 'out_of_band', say: 'aside' }, ...LONG.rules] },
  });
  const client = await dial(t, simulator.url);
  await client.configure();
  client.send({ type: 'response.create' });
  await client.next('response.output_audio.delta');
  client.send({
    type: 'response.create',
    response: { conversation: 'none', output_modalities: ['text'], input: [] },
  });
  const done = await client.next('response.done', ({ response }) => response.conversation_id === null);
  t.equal(done.response.output[0]!.content[0]?.text, 'aside');
  t.ok(client.events.some(({ type }) => type === 'response.output_text.delta'));
  await client.next('response.done');
  t.equal((simulator.sessions()[0]!.items as unknown[]).length, 1);
});

t.test('the server takes the turns where it is asked to, and is interrupted by speech', async (t) => {
  const { url } = await setup(t, { scenario: LONG });
  const client = await dial(t, url);
  await client.configure({
    type: 'realtime',
    audio: {
      input: {
        format: { type: 'audio/pcmu' },
        turn_detection: { type: 'server_vad', silence_duration_ms: 500 },
      },
      output: { format: { type: 'audio/pcmu' } },
    },
  });
  const silence = Buffer.alloc(8000, 0xff);
  const words = toMulaw(sound('caller-thanks.wav').subarray(8000 * 1.2, 8000 * 5.2));
  const push = (bytes: Buffer) =>
    client.send({ type: 'input_audio_buffer.append', audio: bytes.toString('base64') });
  push(silence);
  push(words);
  push(silence);
  const started = await client.next('input_audio_buffer.speech_started');
  t.ok(
    started.audio_start_ms >= 600 && started.audio_start_ms <= 1000,
    `starts at ${started.audio_start_ms} ms, padding included`,
  );
  const stopped = await client.next('input_audio_buffer.speech_stopped');
  t.equal(stopped.item_id, started.item_id);
  t.equal((await client.next('input_audio_buffer.committed')).item_id, started.item_id);
  await client.next('response.output_audio.delta');
  push(words);
  await client.next('input_audio_buffer.speech_started');
  t.match((await client.next('response.done')).response, {
    status: 'cancelled',
    status_details: { reason: 'turn_detected' },
  });
});

t.test(
  'semantic detection waits for the rest of a sentence, and is not in the way of one that is complete',
  async (t) => {
    const { url } = await setup(t);
    const silence = (ms: number) => Buffer.alloc(ms * 8, 0xff);
    const speech = sound('caller-thanks.wav');
    const half = toMulaw(speech.subarray(0, Math.floor(speech.length / 2)));
    const listening = async () => {
      const client = await dial(t, url);
      await client.configure({
        type: 'realtime',
        audio: {
          input: {
            format: { type: 'audio/pcmu' },
            turn_detection: { type: 'semantic_vad', eagerness: 'high', create_response: false },
          },
          output: { format: { type: 'audio/pcmu' } },
        },
      });
      const push = (bytes: Buffer) => {
        for (let at = 0; at < bytes.length; at += 320)
          client.send({
            type: 'input_audio_buffer.append',
            audio: bytes.subarray(at, at + 320).toString('base64'),
          });
      };
      return { client, push };
    };
    const whole = await listening();
    whole.push(Buffer.concat([silence(500), toMulaw(speech), silence(700)]));
    const atEnd = await whole.client.next('input_audio_buffer.speech_stopped');
    const wholeMs = 500 + speech.length / 8;
    t.ok(atEnd.audio_end_ms < wholeMs + 700, `complete: ${atEnd.audio_end_ms - wholeMs} ms after its end`);
    const broken = await listening();
    broken.push(Buffer.concat([silence(500), half, silence(1_500)]));
    await broken.client.next('input_audio_buffer.speech_started');
    await pause(100);
    t.notOk(
      broken.client.events.some(({ type }) => type === 'input_audio_buffer.speech_stopped'),
      'half a sentence and 1.5 s of silence are no turn',
    );
    broken.push(silence(1_500));
    const given = await broken.client.next('input_audio_buffer.speech_stopped');
    t.ok(given.audio_end_ms - (500 + half.length / 8) >= 1_800, 'until the patience of `high` is over');
    t.notOk(
      broken.client.events.some(({ type }) => type === 'response.created'),
      'and it answers only where it is asked to',
    );
  },
);

t.test('received and sent sound is kept as WAV files', async (t) => {
  const out = mkdtempSync(join(tmpdir(), 'model-simulator-'));
  t.teardown(() => rmSync(out, { recursive: true, force: true }));
  const simulator = await startModelSimulator({ pacing: 'fast', out });
  const client = new Client(simulator.url);
  await client.configure();
  const speech = sound('caller-thanks.wav');
  await client.say(toMulaw(speech));
  await client.respond();
  await client.close();
  const [session] = simulator.sessions();
  await simulator.close();
  const received = new wavefile.WaveFile(readFileSync(session!.received_wav as string));
  const samples = received.getSamples(false, Int16Array) as unknown as Int16Array;
  t.equal((received.fmt as { sampleRate: number }).sampleRate, 8000);
  t.equal(samples.length, speech.length);
  t.same(
    Array.from(samples.subarray(8000, 8100)),
    Array.from(fromMulaw(toMulaw(speech.subarray(8000, 8100)))),
  );
  const sent = new wavefile.WaveFile(readFileSync(session!.sent_wav as string));
  t.equal((sent.getSamples(false, Int16Array) as unknown as Int16Array).length, client.audio().length);
});

t.test('sixty sessions speak at once', async (t) => {
  const { url } = await setup(t);
  const clients = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const client = await dial(t, url);
      await client.configure();
      return client;
    }),
  );
  const ends = await Promise.all(
    clients.map((client) => client.respond({ instructions: 'Greet the caller.' })),
  );
  t.ok(ends.every(({ response }) => response.status === 'completed'));
  t.equal(new Set(clients.map((client) => client.audio().length)).size, 1, 'all hear the same, whole');
  t.equal(new Set(ends.map(({ response }) => response.id)).size, 60);
});

t.test('the instructions of a response decide what it is about', async (t) => {
  const { url } = await setup(t);
  const session = 'You are the voice of a shop. Greet nobody on a voicemail, and never be silent.';
  const said = async (own: string | null) => {
    const client = await dial(t, url);
    await client.configure({ ...PHONE, instructions: session });
    client.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
    });
    const done = await client.respond(own === null ? {} : { instructions: `${session}\n\n${own}` });
    return spokenIn(done.response.output[0]);
  };
  t.match(await said(null), /^I heard you say: hello\./, 'nothing added: the caller is answered');
  t.match(await said('The person has picked up. Greet them.'), /^Hello, this is/);
  t.match(
    await said('The other person has been silent. Ask whether they are still there.'),
    /^Are you still there/,
  );
  t.match(await said('Nobody answers any more. Say goodbye.'), /^I cannot hear you/);
  t.match(await said('You have reached a voicemail. Leave one short message.'), /^Hello, .*call us back/);
  t.match(await said('The line was interrupted. Do not greet again.'), /^I am back/);
  t.equal(await said('Say exactly this, and nothing else: "Please hold the line."'), 'Please hold the line.');
});

t.test('server turns with an idle timeout speak up by themselves', async (t) => {
  const { url } = await setup(t, { timeScale: 100 });
  const client = await dial(t, url);
  await client.configure({
    type: 'realtime',
    audio: {
      input: {
        format: { type: 'audio/pcmu' },
        turn_detection: { type: 'server_vad', idle_timeout_ms: 5000 },
      },
      output: { format: { type: 'audio/pcmu' } },
    },
  });
  t.equal((await client.respond()).response.status, 'completed');
  const timeout = await client.next('input_audio_buffer.timeout_triggered');
  t.equal((await client.next('input_audio_buffer.committed')).item_id, timeout.item_id);
  await client.next('response.created');
});

t.test('a session ends after an hour', async (t) => {
  const { url } = await setup(t, { timeScale: 20_000 });
  const client = await dial(t, url);
  t.match((await client.error()).error, { code: 'session_expired' });
  t.match(await client.closed, { code: 1001, reason: /60 minutes/ });
});

t.test(
  'a rule with `once` is used up by an answer that stands in the conversation, and by no other',
  async (t) => {
    const { url } = await setup(t, {
      scenario: {
        rules: [
          { on: 'caller', once: true, say: 'First.' },
          { on: 'caller', say: 'Second.' },
        ],
        // What is sent in one go is read in one go: no answer is created in between.
        pacing: { base: 'fast', created_ms: [150, 150] },
      },
    });
    const client = await dial(t, url);
    await client.configure();
    const turn = Buffer.alloc(1_600, 0xff);
    const said = ({ response }: { response: { output: Parameters<typeof spokenIn>[0][] } }) =>
      spokenIn(response.output[0]);

    const before = await client.say(turn);
    client.send({ type: 'response.create' });
    client.send({ type: 'conversation.item.delete', item_id: before });
    await client.next('conversation.item.deleted');
    await client.next('response.created');
    client.send({ type: 'response.cancel' });
    await client.next('response.done');

    const during = await client.say(turn);
    client.send({ type: 'response.create' });
    await client.next('response.created');
    client.send({ type: 'response.cancel' });
    client.send({ type: 'conversation.item.delete', item_id: during });
    const cancelled = await client.next('response.done');
    for (const { id } of cancelled.response.output)
      client.send({ type: 'conversation.item.delete', item_id: id });

    await client.say(turn);
    const unheard = await client.respond();
    t.equal(said(unheard), 'First.', 'neither of those thrown away has used it up');
    client.send({ type: 'conversation.item.delete', item_id: unheard.response.output[0]!.id });
    await client.next('conversation.item.deleted');
    await client.say(turn);
    t.equal(said(await client.respond()), 'First.', 'nor one that nobody heard');
    await client.say(turn);
    t.equal(said(await client.respond()), 'Second.');
  },
);
