// A session against a peer that says what the test tells it to.
import t from 'tap';
import type { Json } from './model-peer.ts';
import {
  apiError,
  appended,
  audioDelta,
  audioDone,
  committed,
  created,
  done,
  openRig,
  speech,
  textDelta,
  textDone,
  transcribed,
} from './session-rig.ts';

const id = (event: Json) => event.event_id;

t.test('nothing but the configuration is sent before the server has it in force', async (t) => {
  const rig = await openRig(t);
  rig.peer.effective = () => null;
  const { session } = rig;
  session.open();
  const socket = await rig.peer.accept();
  t.equal(socket.headers.authorization, 'Bearer key-of-the-test');
  t.equal(socket.url, '/v1/realtime?model=gpt-realtime-2.1');
  t.equal(socket.headers['sec-websocket-extensions'], undefined, 'no compression is offered');
  const update = await socket.take('session.update');
  session.appendAudio(speech(200));
  t.equal(session.endTurn(), null, 'audio before ready is dropped');
  session.respond({ instructions: 'Greet.' });
  session.addText('system', 'The caller is known.');
  t.ok(session.busy());
  t.same(socket.types(), ['session.update']);
  t.equal(rig.asked.count, 0, 'wanted, and not asked for yet');
  t.same(update.session, {
    type: 'realtime',
    instructions: 'You are Ada.',
    output_modalities: ['audio'],
    audio: {
      input: {
        format: { type: 'audio/pcmu' },
        turn_detection: null,
        transcription: { model: 'gpt-transcribe', language: 'en' },
      },
      output: { format: { type: 'audio/pcmu' }, voice: 'marin' },
    },
    tools: [
      {
        type: 'function',
        name: 'end_call',
        description: 'Ends the call.',
        parameters: { type: 'object', properties: {} },
      },
    ],
    tool_choice: 'auto',
  });
  socket.send({ type: 'session.updated', session: update.session });
  t.match(await rig.take('ready'), [{ renewed: false, tookMs: Number }]);
  const create = await socket.take('response.create');
  t.match(create, {
    response: { instructions: 'You are Ada.\n\nGreet.', metadata: { request_id: id(create) } },
  });
  t.same(socket.types(), ['session.update', 'conversation.item.create', 'response.create']);
  t.equal(rig.asked.count, 1);
});

t.test('a configuration that is not in force as asked is refused', async (t) => {
  const cases: Record<string, (session: Json) => Json> = {
    'server turn detection': (session) => ({
      ...session,
      audio: {
        input: { format: { type: 'audio/pcmu' }, turn_detection: { type: 'server_vad' } },
        output: { format: { type: 'audio/pcmu' } },
      },
    }),
    'PCM out': (session) => ({
      ...session,
      audio: {
        input: { format: { type: 'audio/pcmu' } },
        output: { format: { type: 'audio/pcm', rate: 24000 } },
      },
    }),
    'no formats': () => ({}),
  };
  for (const [name, effective] of Object.entries(cases)) {
    const rig = await openRig(t);
    rig.peer.effective = effective;
    rig.session.open();
    t.match(await rig.take('failed'), [{ code: 'model_refused', message: String }], name);
    t.same(
      rig.events.map(([event]) => event),
      ['failed'],
      name,
    );
  }
  const rig = await openRig(t);
  rig.peer.effective = () => ({
    input_audio_format: 'g711_ulaw',
    output_audio_format: 'g711_ulaw',
    turn_detection: null,
  });
  await rig.connect();
  t.pass("the beta's names say the same");
});

t.test('the caller speaks, the agent answers', async (t) => {
  const rig = await openRig(t);
  const { session } = rig;
  const socket = await rig.connect();
  const said = speech(230);
  for (let at = 0; at < said.length; at += 160) session.appendAudio(said.subarray(at, at + 160));
  t.equal(session.endTurn(), 0);
  session.respond();
  const create = await socket.take('response.create');
  t.same(
    socket.types().slice(1),
    [...Array(3).fill('input_audio_buffer.append'), 'input_audio_buffer.commit', 'response.create'],
    'five frames per append, the rest at the commit',
  );
  t.ok(appended(socket).equals(said));
  t.notOk((create.response as Json).instructions, "the session's instructions hold");
  socket.send(committed('item_u1'));
  socket.send(created('resp_1', id(create)));
  const payload = speech(75, 3);
  socket.send(textDelta('resp_1', 'item_a1', 'Hello'));
  socket.send(audioDelta('resp_1', 'item_a1', payload));
  socket.send(textDelta('resp_1', 'item_a1', ' there.'));
  socket.send(audioDone('resp_1', 'item_a1'));
  socket.send(textDone('resp_1', 'item_a1', 'Hello there.'));
  socket.send(
    done('resp_1', 'completed', {
      usage: {
        input_token_details: {
          text_tokens: 100,
          audio_tokens: 20,
          cached_tokens: 64,
          cached_tokens_details: { text_tokens: 60, audio_tokens: 4 },
        },
        output_token_details: { text_tokens: 5, audio_tokens: 30 },
      },
    }),
  );
  await rig.take('responseDone');
  socket.send({ ...transcribed('item_u1', 'Good morning.'), usage: { type: 'duration', seconds: 1.5 } });
  await rig.take('callerText');
  t.same(rig.events.slice(1), [
    ['text', 'item_a1', 'Hello'],
    ['audio', 'item_a1', payload.toString('hex')],
    ['text', 'item_a1', ' there.'],
    ['audioDone', 'item_a1'],
    ['textDone', 'item_a1', 'Hello there.'],
    [
      'usage',
      {
        input_text_tokens: 100,
        input_audio_tokens: 20,
        cached_text_tokens: 60,
        cached_audio_tokens: 4,
        output_text_tokens: 5,
        output_audio_tokens: 30,
      },
      'answer',
    ],
    [
      'responseDone',
      { responseId: 'resp_1', status: 'completed', reason: null, hadAudio: true, toolCalls: 0 },
    ],
    ['usage', { transcription_seconds: 1.5 }, 'words'],
    ['callerText', 0, 'Good morning.'],
  ]);
  t.notOk(session.busy());
});

t.test('less than 100 ms is no turn', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.appendAudio(speech(99));
  t.equal(rig.session.endTurn(), null);
  rig.session.clearAudio();
  rig.session.appendAudio(speech(60));
  rig.session.appendAudio(speech(40));
  t.equal(rig.session.endTurn(), 0, '100 ms is one');
  rig.session.clearAudio();
  await rig.settle(socket);
  const sent = socket
    .types()
    .filter((type) => type.startsWith('input_audio_buffer') && !type.endsWith('append'));
  t.same(
    sent,
    ['input_audio_buffer.clear', 'input_audio_buffer.commit'],
    'nothing is cleared where nothing was sent',
  );
});

t.test('words find their turn in whatever order they come, once; none are not unknown ones', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  for (let turn = 0; turn < 4; turn++) {
    rig.session.appendAudio(speech(120, turn));
    t.equal(rig.session.endTurn(), turn);
    socket.send(committed(`item_${turn}`));
  }
  await rig.settle(socket);
  socket.send(transcribed('item_2', 'third'));
  socket.send({
    type: 'conversation.item.input_audio_transcription.failed',
    item_id: 'item_0',
    content_index: 0,
    error: { code: 'x' },
  });
  socket.send(transcribed('item_3', ' '));
  socket.send(transcribed('item_1', 'second'));
  socket.send(transcribed('item_1', 'again'));
  socket.send(transcribed('unknown', 'whose?'));
  await rig.settle(socket);
  t.same(
    rig.events.filter(([name]) => name === 'callerText').map(([, ...args]) => args),
    [
      [2, 'third'],
      [0, null],
      [3, ''],
      [1, 'second'],
    ],
  );
});

t.test('a commit that the server finds empty is a turn without words', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  for (let turn = 0; turn < 2; turn++) {
    rig.session.appendAudio(speech(120));
    rig.session.endTurn();
  }
  const first = await socket.take('input_audio_buffer.commit');
  socket.send(apiError('input_audio_buffer_commit_empty', id(first)));
  socket.send(committed('item_1'));
  socket.send(transcribed('item_1', 'second'));
  await rig.settle(socket);
  t.same(
    rig.events.filter(([name]) => name === 'callerText').map(([, ...args]) => args),
    [
      [0, null],
      [1, 'second'],
    ],
  );
});

t.test('without a transcription model the words of a turn are none', async (t) => {
  const rig = await openRig(t, { config: { transcriptionModel: null } });
  const socket = await rig.connect();
  const update = await socket.take('session.update');
  t.notOk(((update.session as Json).audio as { input: Json }).input.transcription);
  rig.session.appendAudio(speech(120));
  rig.session.endTurn();
  socket.send(committed('item_1'));
  t.same(await rig.take('callerText'), [0, null]);
});

t.test('one response at a time; a second ask waits, a third changes nothing', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond({ instructions: 'one' });
  rig.session.respond({ instructions: 'two' });
  rig.session.respond({ instructions: 'three' });
  const first = await socket.take('response.create');
  socket.send(created('resp_1', id(first)));
  await rig.settle(socket);
  t.equal(socket.types().filter((type) => type === 'response.create').length, 1);
  socket.send(done('resp_1'));
  const second = await socket.take('response.create');
  t.match(second, { response: { instructions: 'You are Ada.\n\ntwo' } });
  socket.send(created('resp_2', id(second)));
  socket.send(done('resp_2'));
  await rig.settle(socket);
  t.equal(socket.types().filter((type) => type === 'response.create').length, 2);
});

t.test('another response in the way: the ask is made again at its end', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond({ instructions: 'mine' });
  const first = await socket.take('response.create');
  socket.send(apiError('conversation_already_has_active_response', id(first)));
  await rig.settle(socket);
  t.equal(socket.types().filter((type) => type === 'response.create').length, 1);
  socket.send(done('resp_other'));
  const second = await socket.take('response.create');
  t.not(id(second), id(first));
  t.match(second, { response: { instructions: 'You are Ada.\n\nmine' } });
  t.notOk(
    rig.events.some(([name]) => name === 'responseDone'),
    'of the other one nothing is told',
  );
});

t.test(
  'of a response that runs while ours is in doubt, nothing is passed on, not even its tool calls',
  async (t) => {
    const rig = await openRig(t);
    const socket = await rig.connect();
    rig.session.respond();
    await socket.take('response.create');
    rig.session.interrupt([]);
    // Without the id of what it is about: it may mean ours.
    socket.send(apiError('conversation_already_has_active_response', null));
    socket.send(created('resp_1', null));
    const call = {
      id: 'item_2',
      type: 'function_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'end_call',
      arguments: '{}',
    };
    socket.send({ type: 'response.output_item.done', response_id: 'resp_1', item: call });
    socket.send(done('resp_1', 'completed', { output: [call] }));
    t.match(await socket.take('conversation.item.delete'), { item_id: 'item_2' });
    await rig.settle(socket);
    t.same(
      rig.events.map(([name]) => name),
      ['ready'],
    );
    t.notOk(rig.session.busy(), 'and the next is asked for as ever');
  },
);

t.test('a create that is refused ends as a failed response', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond();
  const create = await socket.take('response.create');
  socket.send(apiError('invalid_value', id(create), 'no', 'response'));
  t.match(await rig.take('responseDone'), [
    { status: 'failed', reason: 'invalid_value', hadAudio: false, toolCalls: 0 },
  ]);
  t.notOk(rig.session.busy());
});

t.test('barge-in: cancel, cut what was not heard, and nothing late is passed on', async (t) => {
  const rig = await openRig(t);
  const { session } = rig;
  const socket = await rig.connect();
  session.respond();
  socket.send(created('resp_1', id(await socket.take('response.create'))));
  socket.send(textDelta('resp_1', 'item_a', 'First. '));
  socket.send(audioDelta('resp_1', 'item_a', speech(400)));
  socket.send(audioDone('resp_1', 'item_a'));
  socket.send(audioDelta('resp_1', 'item_b', speech(1000)));
  socket.send(audioDelta('resp_1', 'item_c', speech(500)));
  await rig.settle(socket);
  const before = rig.events.length;
  session.interrupt([
    { itemId: 'item_a', heardMs: 400, heardText: 'First.' },
    { itemId: 'item_b', heardMs: 700.9, heardText: 'Sec' },
    { itemId: 'item_c', heardMs: 0, heardText: '' },
    { itemId: 'item_never', heardMs: 10, heardText: 'x' },
  ]);
  session.respond({ instructions: 'next' });
  socket.send(audioDelta('resp_1', 'item_c', speech(40)));
  socket.send(textDelta('resp_1', 'item_c', 'late'));
  socket.send(audioDelta('resp_1', 'item_d', speech(40)));
  const cancel = await socket.take('response.cancel');
  t.equal(cancel.response_id, 'resp_1');
  t.match(await socket.take('conversation.item.truncate'), {
    item_id: 'item_b',
    content_index: 0,
    audio_end_ms: 700,
  });
  t.match(await socket.take('conversation.item.delete'), { item_id: 'item_c' });
  await rig.settle(socket);
  t.equal(
    socket.types().filter((type) => type === 'response.create').length,
    1,
    'the next one waits for the end',
  );
  socket.send(
    done('resp_1', 'cancelled', {
      status_details: { type: 'cancelled', reason: 'client_cancelled' },
      output: ['item_a', 'item_b', 'item_c', 'item_d'].map((item) => ({
        id: item,
        type: 'message',
        status: 'incomplete',
      })),
    }),
  );
  t.match(
    await socket.take('conversation.item.delete'),
    { item_id: 'item_d' },
    'what came unheard later goes too',
  );
  await socket.take('response.create');
  t.same(
    rig.events.slice(before).filter(([name]) => name !== 'usage'),
    [
      [
        'responseDone',
        {
          responseId: 'resp_1',
          status: 'cancelled',
          reason: 'client_cancelled',
          hadAudio: true,
          toolCalls: 0,
        },
      ],
    ],
  );
  const cuts = socket.types().filter((type) => /truncate|delete/.test(type));
  t.same(cuts, ['conversation.item.truncate', 'conversation.item.delete', 'conversation.item.delete']);
});

t.test('an interrupt before the response was created cancels it when it comes', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond();
  const create = await socket.take('response.create');
  rig.session.interrupt([]);
  t.ok(rig.session.busy());
  await rig.settle(socket);
  t.notOk(socket.types().includes('response.cancel'), 'a cancel now would be lost');
  socket.send(created('resp_1', id(create)));
  socket.send(audioDelta('resp_1', 'item_1', speech(40)));
  t.match(await socket.take('response.cancel'), { response_id: 'resp_1' });
  socket.send(
    done('resp_1', 'cancelled', { output: [{ id: 'item_1', type: 'message', status: 'incomplete' }] }),
  );
  t.match(await socket.take('conversation.item.delete'), { item_id: 'item_1' });
  t.notOk(rig.session.busy());
  t.notOk(
    rig.events.some(([name]) => name === 'audio' || name.startsWith('response')),
    'it never was',
  );
});

t.test('a truncation that is too long is made once more with what the server has', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond();
  socket.send(created('resp_1', id(await socket.take('response.create'))));
  socket.send(audioDelta('resp_1', 'item_1', speech(500)));
  await rig.settle(socket);
  rig.session.interrupt([{ itemId: 'item_1', heardMs: 9_999, heardText: 'all' }]);
  const first = await socket.take('conversation.item.truncate');
  t.equal(first.audio_end_ms, 500, 'never more than received');
  const message = 'Audio content of 480ms is already shorter than 500ms';
  socket.send(apiError('invalid_value', id(first), message, 'audio_end_ms'));
  const second = await socket.take('conversation.item.truncate');
  t.match(second, { item_id: 'item_1', audio_end_ms: 480 });
  socket.send(apiError('invalid_value', id(second), message, 'audio_end_ms'));
  await rig.settle(socket);
  t.equal(socket.types().filter((type) => type === 'conversation.item.truncate').length, 2);
});

t.test('tool calls are passed on once, when complete, and never of a dropped response', async (t) => {
  const rig = await openRig(t);
  const { session } = rig;
  const socket = await rig.connect();
  const call = (n: number, status: string) => ({
    id: `item_${n}`,
    type: 'function_call',
    status,
    call_id: `call_${n}`,
    name: 'book',
    arguments: '{"day":',
  });
  session.respond();
  socket.send(created('resp_1', id(await socket.take('response.create'))));
  socket.send({ type: 'response.output_item.added', response_id: 'resp_1', item: call(1, 'in_progress') });
  socket.send({ type: 'response.output_item.done', response_id: 'resp_1', item: call(1, 'completed') });
  socket.send({ type: 'response.output_item.done', response_id: 'resp_1', item: call(2, 'incomplete') });
  socket.send(
    done('resp_1', 'completed', {
      output: [call(1, 'completed'), call(2, 'incomplete'), call(3, 'completed')],
    }),
  );
  await rig.take('responseDone');
  t.same(rig.events.slice(1), [
    ['toolCall', { toolCallId: 'call_1', name: 'book', argumentsJson: '{"day":' }],
    ['toolCall', { toolCallId: 'call_3', name: 'book', argumentsJson: '{"day":' }],
    [
      'responseDone',
      { responseId: 'resp_1', status: 'completed', reason: null, hadAudio: false, toolCalls: 2 },
    ],
  ]);
  session.sendToolResult('call_1', 'booked');
  t.match(await socket.take('conversation.item.create'), {
    item: { type: 'function_call_output', call_id: 'call_1', output: 'booked' },
  });

  session.respond();
  socket.send(created('resp_2', id(await socket.take('response.create'))));
  await rig.settle(socket);
  session.interrupt([]);
  socket.send({ type: 'response.output_item.done', response_id: 'resp_2', item: call(4, 'completed') });
  socket.send(done('resp_2', 'cancelled', { output: [call(4, 'completed')] }));
  await rig.take('responseDone');
  t.equal(rig.events.filter(([name]) => name === 'toolCall').length, 2);
  t.match(
    await socket.take('conversation.item.delete'),
    { item_id: 'item_4' },
    'no call is left without its answer',
  );
});

t.test('a rate-limited response is asked for again, three times at most', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond({ instructions: 'x' });
  const limited = {
    status_details: {
      type: 'failed',
      error: { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 1.2s.' },
    },
  };
  for (let n = 0; n < 4; n++) {
    const create = await socket.take('response.create');
    t.match(create, { response: { instructions: 'You are Ada.\n\nx' } });
    socket.send(created(`resp_${n}`, id(create)));
    socket.send(done(`resp_${n}`, 'failed', limited));
    await rig.settle(socket);
    if (n === 3) break;
    t.ok(rig.session.busy(), 'backing off');
    t.notOk(rig.events.some(([name]) => name === 'responseDone'));
    rig.timers.advance(1_199);
    t.equal(socket.types().filter((type) => type === 'response.create').length, n + 1);
    rig.timers.advance(1);
  }
  t.match(await rig.take('responseDone'), [
    { responseId: 'resp_3', status: 'failed', reason: 'rate_limit_exceeded' },
  ]);
  t.notOk(rig.session.busy());
});

t.test('a response that failed after it spoke is not asked for again', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond();
  socket.send(created('resp_1', id(await socket.take('response.create'))));
  socket.send(audioDelta('resp_1', 'item_1', speech(40)));
  socket.send(done('resp_1', 'failed', { status_details: { error: { code: 'server_error', message: '' } } }));
  t.match(await rig.take('responseDone'), [{ status: 'failed', hadAudio: true }]);
  t.ok(
    rig.events.some(([name]) => name === 'audioDone'),
    'its audio is complete all the same',
  );
  t.notOk(rig.session.busy());
});

t.test('errors that mean nothing change nothing, fatal ones end it', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  for (const code of [
    'response_cancel_not_active',
    'item_truncate_invalid_item_id',
    'item_delete_invalid_item_id',
    'something_new',
  ])
    socket.send(apiError(code));
  socket.send({ type: 'error', error: 'a bare text' });
  socket.send('{"type":"response.done"}');
  socket.send('{not json');
  socket.send({ type: 'hologram.created' });
  await rig.settle(socket);
  t.same(
    rig.events.map(([name]) => name).filter((name) => name !== 'usage'),
    ['ready'],
  );
  socket.send(apiError('insufficient_quota', null, 'You exceeded your quota.'));
  t.match(await rig.take('failed'), [{ code: 'model_refused', message: /quota/ }]);
  await socket.closed;
  t.equal(rig.timers.pending(), 0, 'no timer is left');
  rig.session.respond();
  t.notOk(rig.session.busy());
});

t.test('events of a response that has ended are late', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond();
  socket.send(created('resp_1', id(await socket.take('response.create'))));
  socket.send(done('resp_1'));
  await rig.take('responseDone');
  socket.send(audioDone('resp_1', 'item_1'));
  socket.send(audioDelta('resp_1', 'item_1', speech(20)));
  socket.send(created('resp_1'));
  await rig.settle(socket);
  t.notOk(rig.session.busy());
  t.notOk(rig.events.some(([name]) => name === 'audio'));
});

t.test('a response whose beginning was not told still speaks', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond();
  await socket.take('response.create');
  socket.send(audioDelta('resp_1', 'item_1', speech(20)));
  t.match(await rig.take('audio'), ['item_1']);
});

t.test('what comes twice counts once', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  const usage = { input_token_details: { text_tokens: 1, audio_tokens: 1 } };
  rig.session.appendAudio(speech(100));
  rig.session.endTurn();
  socket.send(committed('item_u'));
  const words = { ...transcribed('item_u', 'Hi.'), usage: { type: 'duration', seconds: 1 } };
  socket.send(words);
  socket.send(words);
  rig.session.respond();
  socket.send(created('resp_1', id(await socket.take('response.create'))));
  socket.send(done('resp_1', 'completed', { usage }));
  socket.send(done('resp_1', 'completed', { usage }));
  await rig.settle(socket);
  t.same(
    rig.events.map(([name]) => name),
    ['ready', 'usage', 'callerText', 'usage', 'responseDone'],
  );
});

t.test('close ends the socket and every timer; nothing is told after it', async (t) => {
  const rig = await openRig(t);
  const socket = await rig.connect();
  rig.session.respond();
  socket.send(created('resp_1', id(await socket.take('response.create'))));
  await rig.settle(socket);
  const told = rig.events.length;
  const closing = rig.session.close();
  socket.send(audioDelta('resp_1', 'item_1', speech(20)));
  await closing;
  await rig.session.close();
  t.equal(await socket.closed, 1000);
  t.equal(rig.events.length, told);
  t.equal(rig.timers.pending(), 0);
});

t.test('where the server tells the turns, its word is passed on and its commits are ours', async (t) => {
  for (const turnDetection of ['server_vad', 'semantic_vad'] as const) {
    const rig = await openRig(t, { config: { turnDetection } });
    const socket = await rig.connect();
    t.match(
      socket.received.find(({ type }) => type === 'session.update'),
      {
        session: {
          audio: {
            input: {
              turn_detection: { type: turnDetection, create_response: false, interrupt_response: false },
            },
          },
        },
      },
    );
    rig.session.appendAudio(speech(1_000));
    socket.send({ type: 'input_audio_buffer.speech_started', audio_start_ms: 200, item_id: 'item_1' });
    t.same(await rig.take('callerSpeech'), ['started', turnDetection === 'server_vad' ? 500 : 800]);
    rig.session.appendAudio(speech(1_000));
    socket.send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 1_400, item_id: 'item_1' });
    socket.send({ type: 'input_audio_buffer.committed', item_id: 'item_1' });
    t.same(await rig.take('callerSpeech'), ['stopped', 600]);
    t.equal(rig.session.endTurn(), 0);
    socket.send({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: 'item_1',
      transcript: 'hello',
    });
    t.same(await rig.take('callerText'), [0, 'hello']);
    t.notOk(socket.types().includes('input_audio_buffer.commit'), 'the server has committed it');
  }
});

t.test('a server without the turn detection asked for is refused, with the way out', async (t) => {
  const rig = await openRig(t, { config: { turnDetection: 'semantic_vad' } });
  rig.peer.effective = (session) => ({
    ...session,
    audio: {
      input: { format: { type: 'audio/pcmu' }, turn_detection: null },
      output: { format: { type: 'audio/pcmu' } },
    },
  });
  rig.session.open();
  t.match(await rig.take('failed'), [{ code: 'model_refused', message: /TURN_DETECTION/ }]);
});
