// Faults on demand, as a client sees them, and the control API that asks for them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Fault, Faults } from '../../scripts/model-simulator/faults.ts';
import { type ModelSimulatorOptions, startModelSimulator } from '../../scripts/model-simulator/simulator.ts';
import { Client, PHONE, sound, spokenIn, toMulaw } from './model-simulator-client.ts';

async function setup(test: Test, faults: Fault[], options: ModelSimulatorOptions = {}) {
  const simulator = await startModelSimulator({ pacing: 'fast', ...options });
  test.teardown(() => simulator.close());
  simulator.arm(...faults);
  const client = new Client(simulator.url);
  test.teardown(() => client.rt.socket.terminate());
  return { simulator, client };
}

const words = toMulaw(sound('caller-thanks.wav'));

for (const status of [401, 429, 503]) {
  t.test(`the upgrade is answered with ${status}, once`, async (t) => {
    const { simulator, client } = await setup(t, [{ kind: 'upgrade_status', status, retry_after_ms: 2000 }]);
    t.equal((await client.closed).code, 1006);
    t.match(client.failures, [`Unexpected server response: ${status}`]);
    const again = new Client(simulator.url);
    t.teardown(() => again.close());
    await again.next('session.created');
  });
}

t.test('a wrong key is refused where one is set', async (t) => {
  const { simulator, client } = await setup(t, [], { apiKey: 'sk-right' });
  await client.closed;
  t.match(client.failures, ['Unexpected server response: 401']);
  const right = new Client(simulator.url, 'sk-right');
  t.teardown(() => right.close());
  await right.next('session.created');
});

t.test('an upgrade can be left hanging', async (t) => {
  const { simulator, client } = await setup(t, [{ kind: 'upgrade_hang' }]);
  const other = new Client(simulator.url);
  t.teardown(() => other.close());
  await other.next('session.created');
  t.equal(client.rt.socket.readyState, 0, 'still connecting while another is served');
});

t.test('a key can be refused after the upgrade', async (t) => {
  const { client } = await setup(t, [{ kind: 'close_on_open' }]);
  t.match(await client.closed, { code: 3000, reason: /invalid_api_key/ });
});

t.test('a session expires with an error and close 1001', async (t) => {
  const { client } = await setup(t, [{ kind: 'session_expired' }]);
  await client.configure();
  t.match((await client.error()).error, {
    code: 'session_expired',
    message: /maximum duration of 60 minutes/,
  });
  t.match(await client.closed, { code: 1001 });
});

t.test('a connection is reset in the middle of speech', async (t) => {
  const { client } = await setup(t, [{ kind: 'tcp_reset', trigger: 'speaking' }]);
  await client.configure();
  client.send({ type: 'response.create' });
  t.equal((await client.closed).code, 1006);
  t.notOk(client.events.some(({ type }) => type === 'response.done'));
});

t.test('a half-open connection answers no ping and sends no close', async (t) => {
  const { simulator, client } = await setup(t, [{ kind: 'half_open' }]);
  await client.configure();
  let pongs = 0;
  client.rt.socket.on('pong', () => pongs++);
  client.send({ type: 'response.create' });
  const other = new Client(simulator.url);
  t.teardown(() => other.close());
  await other.configure();
  await other.respond();
  // By now the fault has struck: the ping is sent into a dead line, and another session's talk gives it time to be answered.
  client.rt.socket.ping();
  await other.respond();
  t.equal(pongs, 0);
  t.equal(client.rt.socket.readyState, 1, 'for the client it is open');
  t.notOk(client.events.some(({ type }) => type === 'response.created'));
});

t.test('what is sent during a silence comes after it, in order', async (t) => {
  const { client } = await setup(t, [{ kind: 'silence', trigger: 'response', ms: 300 }]);
  await client.configure();
  const askedAt = performance.now();
  client.send({ type: 'response.create' });
  await client.next('response.created');
  t.ok(performance.now() - askedAt > 250, 'nothing came before');
  t.equal((await client.next('response.done')).response.status, 'completed');
});

t.test('unreadable and unknown frames leave the session alive', async (t) => {
  const { client } = await setup(t, [
    { kind: 'malformed_json', trigger: 'configured' },
    { kind: 'unknown_event', trigger: 'configured' },
    { kind: 'error_event', trigger: 'configured', code: 'server_overloaded' },
  ]);
  await client.configure();
  await client.next('session.weather_changed');
  t.match((await client.error()).error, { type: 'server_error', code: 'server_overloaded' });
  t.equal((await client.respond()).response.status, 'completed');
  t.match(client.failures, ['could not parse websocket event']);
});

t.test('an update can be refused, ignored, or not answered', async (t) => {
  const { client } = await setup(t, [
    { kind: 'update_refused' },
    { kind: 'update_ignored' },
    { kind: 'update_unanswered' },
  ]);
  await client.next('session.created');
  const update = { type: 'session.update', session: PHONE };
  client.send(update);
  await client.error();
  client.send(update);
  t.equal(
    (await client.next('session.updated')).session.audio.input.format.type,
    'audio/pcm',
    'the old one is in force',
  );
  client.send(update);
  client.send(update);
  t.equal((await client.next('session.updated')).session.audio.input.format.type, 'audio/pcmu');
  t.equal(client.events.filter(({ type }) => type === 'session.updated').length, 2);
});

t.test('responses fail, are cut, or stay away', async (t) => {
  const { simulator, client } = await setup(t, [
    { kind: 'response_failed' },
    { kind: 'content_filter', after_ms: 500 },
    { kind: 'max_output_tokens', after_ms: 500 },
    { kind: 'invalid_arguments' },
    { kind: 'response_silent' },
    { kind: 'response_never' },
  ]);
  await client.configure({ ...PHONE, tools: [{ type: 'function', name: 'end_call', parameters: {} }] });
  const failed = await client.respond();
  t.match(failed.response, {
    status: 'failed',
    output: [],
    status_details: { type: 'failed', error: { code: 'rate_limit_exceeded' } },
    usage: { total_tokens: 0 },
  });
  for (const reason of ['content_filter', 'max_output_tokens']) {
    const cut = await client.respond({ instructions: 'Greet the caller.' });
    t.match(cut.response, {
      status: 'incomplete',
      status_details: { reason },
      output: [{ status: 'incomplete' }],
    });
    t.equal(client.audio(cut.response.id).length / 8, 500, 'audio up to the cut has been sent');
  }
  const broken = await client.respond({ instructions: 'They are silent. Say goodbye.' });
  const call = broken.response.output[1]!;
  t.equal(call.type, 'function_call');
  t.throws(() => JSON.parse(call.arguments));
  client.send({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: call.call_id, output: '' },
  });

  client.send({ type: 'response.create' });
  await client.next('response.created');
  client.send({ type: 'response.cancel' });
  t.match((await client.next('response.done')).response, { status: 'cancelled', output: [] });

  client.send({ type: 'response.create' });
  client.send({ type: 'response.create' });
  t.match((await client.error()).error.code, 'conversation_already_has_active_response');
  t.equal(simulator.sessions()[0]!.active_response !== null, true, 'it never comes, and is in the way');
});

t.test('audio stalls in the middle and then goes on to its end', async (t) => {
  const { client } = await setup(t, [{ kind: 'stall', after_ms: 800, ms: 400 }]);
  await client.configure();
  const times: number[] = [];
  client.rt.on('response.output_audio.delta', () => times.push(performance.now()));
  t.equal((await client.respond({ instructions: 'Greet the caller.' })).response.status, 'completed');
  const gaps = times.slice(1).map((time, i) => time - times[i]!);
  t.ok(Math.max(...gaps) > 350, 'there is a gap');
});

t.test('a transcription fails, is empty, is late or never comes', async (t) => {
  const { client } = await setup(t, [
    { kind: 'transcription_failed' },
    { kind: 'transcription_empty' },
    { kind: 'transcription_late', ms: 200 },
    { kind: 'transcription_never' },
  ]);
  await client.configure();
  const failedItem = await client.say(words);
  t.match(await client.next('conversation.item.input_audio_transcription.failed'), {
    item_id: failedItem,
    error: { message: /transcription failed/ },
  });
  await client.say(words);
  t.equal((await client.next('conversation.item.input_audio_transcription.completed')).transcript, '');
  const late = await client.say(words);
  t.equal((await client.respond()).response.status, 'completed', 'the answer does not wait for it');
  t.match(await client.next('conversation.item.input_audio_transcription.completed'), {
    item_id: late,
    transcript: /Goodbye/,
  });
  const lost = await client.say(words);
  const seen = await client.say(words);
  t.match(await client.next('conversation.item.input_audio_transcription.completed'), { item_id: seen });
  t.notOk(client.events.some((event) => /transcription/.test(event.type) && event.item_id === lost));
});

t.test('manners of other servers: a commit that answers, no acknowledged cut, older names', async (t) => {
  const { client } = await setup(t, [], {
    scenario: {
      rules: [{ on: 'any', say: 'all right' }],
      profile: { dialect: 'beta', commit_responds: true, truncate_ack: false, echo_event_id: false },
    },
  });
  await client.configure();
  await client.say(words);
  const done = await client.next('response.done');
  const types = new Set(client.events.map(({ type }) => type));
  t.ok(types.has('response.audio.delta') && types.has('response.audio_transcript.done'));
  t.ok(
    types.has('conversation.item.created') &&
      !types.has('conversation.item.added') &&
      !types.has('conversation.item.done'),
  );
  client.send({
    type: 'conversation.item.truncate',
    item_id: done.response.output[0]!.id,
    content_index: 0,
    audio_end_ms: 0,
  });
  client.send({ type: 'response.cancel', event_id: 'mine' });
  t.match((await client.error()).error, { code: 'response_cancel_not_active', event_id: null });
  t.notOk(client.events.some(({ type }) => type === 'conversation.item.truncated'));
});

t.test('the control API shows sessions, arms faults, changes the scenario and streams events', async (t) => {
  const { simulator, client } = await setup(t, []);
  const control = async (path: string, method = 'GET', body?: unknown) => {
    const response = await fetch(`${simulator.controlUrl}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const stream = await fetch(`${simulator.controlUrl}/events`);
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  await client.configure();
  let lines = '';
  while (!lines.includes('"type":"session.updated"')) lines += (await reader.read()).value ?? '';
  const line = lines.split('\n').find((one) => one.includes('"type":"session.update"'));
  t.match(JSON.parse(line ?? '{}'), { from: 'client', session_id: /^sess_/, time: /^\d{4}-/ });
  await reader.cancel();

  await client.say(words);
  const { body } = await control('/sessions');
  const [session] = body.data as unknown as Record<string, unknown>[];
  t.match(session, {
    open: true,
    configured: true,
    scenario: 'default',
    received_audio_ms: Math.round(words.length / 8),
    items: [{ role: 'user', believed_text: /^Goodbye\. Thank you/ }],
    violations: [],
  });
  t.notMatch(JSON.stringify(session), words.subarray(0, 300).toString('base64'), 'no audio in it');
  t.match((await control(`/sessions/${session!.id}`)).body, { id: session!.id });
  t.equal((await control('/sessions/none')).status, 404);

  t.match(await control('/faults', 'POST', { kind: 'nonsense' }), { status: 400 });
  t.match(await control('/faults', 'POST', [{ kind: 'response_failed', times: 2 }]), {
    status: 201,
    body: { data: [{ kind: 'response_failed', times: 2 }] },
  });
  t.match(await control('/faults', 'DELETE'), { body: { data: [] } });
  t.equal((await client.respond()).response.status, 'completed', 'the cleared fault does not hit');

  t.match(await control('/scenario', 'POST', { rules: [{ on: 'nothing' }] }), { status: 400 });
  t.match(await control('/scenario', 'POST', { name: 'reminder' }), {
    body: { data: [{ name: 'reminder' }] },
  });
  const next = new Client(simulator.url);
  t.teardown(() => next.close());
  await next.configure();
  t.match(spokenIn((await next.respond()).response.output[0]), /Riverside Dental/);

  await control('/faults', 'POST', { kind: 'close', close_code: 1012, session: session!.id });
  t.match(await client.closed, { code: 1012 });
});

t.test('the first scenario whose pattern fits the instructions holds', async (t) => {
  const { simulator, client } = await setup(t, [], { scenario: ['reminder', 'order-line', 'default'] });
  for (const [instructions, expected] of [
    ['Remind them of the appointment.', /Riverside Dental/],
    ['You take orders on the order line.', /order line/],
    ['You are a friend.', /automated assistant\. How can I help/],
  ] as const) {
    const client = new Client(simulator.url);
    t.teardown(() => client.close());
    await client.configure({ ...PHONE, instructions });
    const done = await client.respond({ instructions: `${instructions}\n\nGreet the person.` });
    t.match(spokenIn(done.response.output[0]), expected);
  }
  await client.configure();
});

t.test('it runs as a program, prints its port, and ends on SIGTERM', async (t) => {
  const main = join(import.meta.dirname, '..', '..', 'scripts', 'model-simulator', 'main.ts');
  const child = spawn(process.execPath, [
    main,
    '--port',
    '0',
    '--scenario',
    'order-line',
    '--pacing',
    'fast',
  ]);
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { listening } = JSON.parse(line.toString()) as { listening: number };
  const client = new Client(`http://127.0.0.1:${listening}/v1`);
  await client.configure();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  t.equal(code, 0);
  t.equal((await client.closed).code, 1006);
});

t.test('a fault is for the sessions whose instructions match, after so many occasions', async (t) => {
  const faults = new Faults();
  faults.arm([{ kind: 'response_failed', for: 'CASE-1;', skip: 1 }]);
  t.equal(faults.takeResponse('a', 'You are CASE-2;'), null, 'another call');
  t.equal(faults.takeResponse('b', 'You are CASE-1;'), null, 'the first occasion passes');
  t.match(faults.takeResponse('b', 'You are case-1;'), { kind: 'response_failed' });
  t.equal(faults.takeResponse('b', 'You are CASE-1;'), null, 'once');
  t.same(faults.list(), []);
});
