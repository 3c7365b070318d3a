// What happens when the socket to the model is refused, lost, silent or too old.
import t from 'tap';
import { CREATE_LIMIT_MS, PROGRESS_LIMIT_MS } from '../../../../bridge/models/response-gate.ts';
import { SESSION_TEXTS } from '../../../../control/agents/texts/moments.ts';
import type { Json, PeerSocket } from './model-peer.ts';
import {
  apiError,
  appended,
  audioDelta,
  audioDone,
  committed,
  created,
  done,
  openRig,
  type Rig,
  speech,
  textDelta,
  textDone,
  transcribed,
} from './session-rig.ts';

const id = (event: Json) => event.event_id;

/** One answer from its request to its end. */
async function answer(rig: Rig, socket: PeerSocket, n: number, text: string): Promise<void> {
  rig.session.respond();
  socket.send(created(`resp_${n}`, id(await socket.take('response.create'))));
  socket.send(textDelta(`resp_${n}`, `item_a${n}`, text));
  socket.send(audioDelta(`resp_${n}`, `item_a${n}`, speech(1000)));
  socket.send(audioDone(`resp_${n}`, `item_a${n}`));
  socket.send(textDone(`resp_${n}`, `item_a${n}`, text));
  socket.send(done(`resp_${n}`));
  await rig.take('responseDone');
}

/** A turn of the caller that is committed and has its words. */
async function turn(rig: Rig, socket: PeerSocket, n: number, text: string): Promise<void> {
  rig.session.appendAudio(speech(200, n));
  rig.session.endTurn();
  socket.send(committed(`item_u${n}`));
  socket.send(transcribed(`item_u${n}`, text));
  await rig.take('callerText');
}

const items = (socket: PeerSocket) =>
  socket.received
    .filter((event) => event.type === 'conversation.item.create')
    .map((event) => event.item as Json);
/** Role and text of what a session was told. */
const told = (socket: PeerSocket) =>
  items(socket).map((item) => {
    const content = item.content as { type: string; text: string }[] | undefined;
    return [item.role ?? item.type, content?.[0]?.text ?? item.arguments ?? item.output];
  });

t.test(
  'a lost socket: dialled again at once, told what was said, and only asked to go on where it was to speak',
  async (t) => {
    const rig = await openRig(t);
    const { session } = rig;
    const first = await rig.connect();
    session.addText('system', 'The caller is Bo.');
    await answer(rig, first, 1, 'Hello, this is Ada.');
    await turn(rig, first, 0, 'I want to book.');
    session.respond();
    first.send(created('resp_t', id(await first.take('response.create'))));
    first.send({
      type: 'response.output_item.done',
      response_id: 'resp_t',
      item: {
        id: 'item_t',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'book',
        arguments: '{}',
      },
    });
    first.send(done('resp_t'));
    await rig.take('toolCall');
    session.sendToolResult('call_1', 'booked');
    await rig.settle(first);
    first.terminate();
    t.match(await rig.take('reconnecting'), [/1006/]);
    const second = await rig.peer.accept();
    t.match(await rig.take('ready'), [{ renewed: true }]);
    await rig.settle(second);
    t.same(told(second), [
      ['system', 'The caller is Bo.'],
      ['assistant', 'Hello, this is Ada.'],
      ['user', 'I want to book.'],
      ['function_call', '{}'],
      ['function_call_output', 'booked'],
    ]);
    t.match(items(second)[1], { content: [{ type: 'output_text' }], id: String });
    t.match(items(second)[2], { content: [{ type: 'input_text' }] });
    t.match(items(second)[3], { call_id: 'call_1', name: 'book' });
    t.notOk(second.types().includes('response.create'), 'it is the caller who is to speak');
    t.equal(
      new Set(
        items(second)
          .map((item) => item.id)
          .filter(Boolean),
      ).size,
      5,
      'ids are unique',
    );
  },
);

t.test('what another session has had: told first, and again where the socket is lost', async (t) => {
  const rig = await openRig(t, {
    config: {
      history: [
        { role: 'agent', text: 'Hello, this is Ada.' },
        { role: 'caller', text: '' },
        { role: 'tool', name: 'book', argumentsJson: '{"day":1}', output: 'booked' },
        { role: 'system', text: 'You were cut off.' },
      ],
    },
  });
  const first = await rig.connect();
  await rig.settle(first);
  const before = [
    ['assistant', 'Hello, this is Ada.'],
    ['user', SESSION_TEXTS.unintelligible],
    ['function_call', '{"day":1}'],
    ['function_call_output', 'booked'],
    ['system', 'You were cut off.'],
  ];
  t.same(told(first), before);
  t.match(items(first)[2], { name: 'book', call_id: items(first)[3]?.call_id });
  t.notOk(first.types().includes('response.create'));
  await answer(rig, first, 1, 'I am back.');
  first.terminate();
  const second = await rig.peer.accept();
  t.match(await rig.take('ready'), [{ renewed: true }]);
  await rig.settle(second);
  t.same(told(second), [...before, ['assistant', 'I am back.']]);
});

t.test(
  'lost in the middle of an answer: what was received counts as said, and the model goes on',
  async (t) => {
    const rig = await openRig(t);
    const first = await rig.connect();
    await turn(rig, first, 0, 'Tell me more.');
    rig.session.respond({ instructions: 'Be short.' });
    first.send(created('resp_1', id(await first.take('response.create'))));
    // Text runs ahead of audio: 124 characters, of which about two thirds were received as sound.
    const text =
      'We are open from nine to five on every weekday, and from ten to two on Saturdays; on Sundays we are closed all day, sadly.';
    first.send(textDelta('resp_1', 'item_a1', text));
    first.send(audioDelta('resp_1', 'item_a1', speech(5_000)));
    await rig.take('audio');
    first.terminate();
    await rig.take('reconnecting');
    t.same(await rig.take('audioDone'), ['item_a1'], 'nothing more of it comes');
    t.match(await rig.take('responseDone'), [
      { responseId: 'resp_1', status: 'failed', reason: 'connection_lost', hadAudio: true },
    ]);
    t.ok(rig.session.busy());
    const second = await rig.peer.accept();
    const create = await second.take('response.create');
    const [, [role, heard] = []] = told(second);
    t.equal(role, 'assistant');
    t.ok(
      text.startsWith(String(heard)) && String(heard).length > 60 && String(heard).length < 100,
      String(heard),
    );
    t.match(
      (create.response as Json).instructions,
      /^You are Ada\.\n\nBe short\.\n\nThe connection was interrupted.*Do not greet again/s,
    );
  },
);

t.test('lost before the first words: asked again as it was, without a note', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  rig.session.respond({ instructions: 'Greet.' });
  await first.take('response.create');
  first.terminate();
  const second = await rig.peer.accept();
  t.match(await second.take('response.create'), { response: { instructions: 'You are Ada.\n\nGreet.' } });
});

t.test('a dropped answer is not asked for again, and only what was heard of it is told', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  rig.session.respond();
  first.send(created('resp_1', id(await first.take('response.create'))));
  first.send(textDelta('resp_1', 'item_1', 'One two three four five.'));
  first.send(audioDelta('resp_1', 'item_1', speech(1000)));
  first.send(textDelta('resp_1', 'item_2', 'Never heard.'));
  first.send(audioDelta('resp_1', 'item_2', speech(1000)));
  await rig.settle(first);
  rig.session.interrupt([
    { itemId: 'item_1', heardMs: 400, heardText: 'One two' },
    { itemId: 'item_2', heardMs: 0, heardText: '' },
  ]);
  first.terminate();
  await rig.take('reconnecting');
  t.match(await rig.take('responseDone'), [{ status: 'cancelled' }]);
  const second = await rig.peer.accept();
  await rig.take('ready');
  await rig.settle(second);
  t.same(
    told(second).filter(([role]) => role === 'assistant'),
    [['assistant', 'One two']],
  );
  t.notOk(second.types().includes('response.create'));
});

t.test('what the caller says meanwhile is not lost', async (t) => {
  const rig = await openRig(t);
  const { session } = rig;
  const first = await rig.connect();
  session.appendAudio(speech(200, 1));
  t.equal(session.endTurn(), 0, 'its words are still to come');
  first.send(committed('item_u0'));
  session.appendAudio(speech(60, 2));
  await rig.settle(first);
  first.terminate();
  await rig.take('reconnecting');
  session.appendAudio(speech(60, 3));
  t.equal(session.endTurn(), 1);
  session.appendAudio(speech(40, 4));
  session.respond();
  const second = await rig.peer.accept();
  await second.take('response.create');
  t.same(
    second.types().filter((type) => !type.startsWith('session') && !type.includes('item')),
    ['append', 'commit', 'append', 'commit', 'append']
      .map((what) => `input_audio_buffer.${what}`)
      .concat('response.create'),
  );
  t.ok(appended(second).equals(Buffer.concat([speech(200, 1), speech(60, 2), speech(60, 3), speech(40, 4)])));
  second.send(committed('new_0'));
  second.send(committed('new_1'));
  second.send(transcribed('new_1', 'second'));
  second.send(transcribed('new_0', 'first'));
  t.same(await rig.take('callerText'), [1, 'second']);
  t.same(await rig.take('callerText'), [0, 'first']);
  session.appendAudio(speech(60, 5));
  t.equal(session.endTurn(), 2, 'the 40 ms and these are one turn');
});

t.test('an item told as text is replaced when it turns out not to have been heard', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  await turn(rig, first, 0, 'Hi.');
  await answer(rig, first, 1, 'Hello there, how can I help?');
  first.terminate();
  const second = await rig.peer.accept();
  await rig.take('ready');
  await rig.settle(second);
  const [user, agent] = items(second);
  rig.session.interrupt([{ itemId: 'item_a1', heardMs: 300, heardText: 'Hello' }]);
  t.match(await second.take('conversation.item.delete'), { item_id: agent!.id });
  await rig.settle(second);
  t.match(second.received.at(-1), {
    type: 'conversation.item.create',
    previous_item_id: user!.id,
    item: { role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
  });
  t.notOk(second.types().includes('conversation.item.truncate'), 'text cannot be truncated');
});

t.test('the second and third attempt wait; then it is over', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  rig.peer.refusals.push(503, 503, 503);
  first.terminate();
  await rig.take('reconnecting');
  // Each refusal comes from the network; time moves only here.
  const failed = rig.take('failed');
  let over = false;
  void failed.then(() => {
    over = true;
  });
  let waits = 0;
  while (!over && waits < 10_000) {
    waits++;
    await new Promise((resolve) => setImmediate(resolve));
    if (rig.peer.refusals.length < 3) rig.timers.advance(1);
  }
  t.match(await failed, [{ code: 'model_lost', message: /503/ }]);
  t.equal(rig.peer.refusals.length, 0, 'three attempts');
  t.notOk(rig.events.slice(-1)[0]?.[0] !== 'failed', 'and nothing after');
});

t.test('a server that does not answer: over when the budget is', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  rig.peer.hello = null;
  first.terminate();
  await rig.take('reconnecting');
  await rig.peer.accept();
  rig.timers.advance(2_999);
  t.notOk(rig.events.some(([name]) => name === 'failed'));
  rig.timers.advance(2_001);
  t.match(await rig.take('failed'), [{ code: 'model_lost' }]);
  t.equal(rig.timers.pending(), 0);
});

t.test('the first dial: refused for good, or not reached', async (t) => {
  for (const status of [401, 403, 404]) {
    const rig = await openRig(t);
    rig.peer.refusals.push(status);
    rig.session.open();
    t.match(await rig.take('failed'), [{ code: 'model_refused', message: new RegExp(String(status)) }]);
  }
  const closing = await openRig(t);
  closing.session.open();
  const socket = await closing.peer.accept();
  socket.close(3000, 'invalid_request_error.invalid_api_key');
  t.match(await closing.take('failed'), [{ code: 'model_refused' }], 'a key refused by closing');

  const nobody = await openRig(t, { config: { url: 'http://127.0.0.1:9/v1' } });
  nobody.session.open();
  const failed = nobody.take('failed');
  let over = false;
  void failed.then(() => {
    over = true;
  });
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    nobody.timers.advance(1);
  }
  t.match(await failed, [{ code: 'model_unreachable' }]);
  const nonsense = await openRig(t, { config: { url: 'http://[' } });
  nonsense.session.open();
  t.match(await nonsense.take('failed'), [{ code: 'model_refused' }]);
});

t.test('an error in place of the session is a refusal with its words', async (t) => {
  const rig = await openRig(t);
  rig.peer.hello = apiError('model_not_found', null, 'The model does not exist.');
  rig.session.open();
  t.match(await rig.take('failed'), [{ code: 'model_refused', message: /does not exist/ }]);
});

t.test('a server that keeps losing us is given up', async (t) => {
  const rig = await openRig(t);
  let socket = await rig.connect();
  for (let n = 0; n < 4; n++) {
    socket.terminate();
    await rig.take('reconnecting');
    socket = await rig.peer.accept();
    await rig.take('ready');
  }
  socket.terminate();
  t.match(await rig.take('failed'), [{ code: 'model_lost' }]);
});

t.test('no sign of life for two pings: the socket is taken as lost', async (t) => {
  const rig = await openRig(t);
  await rig.connect();
  // The answer to the ping cannot come in the same instant.
  rig.timers.advance(10_000);
  t.match(await rig.take('reconnecting'), [/no sign of life/]);
});

t.test('a dead line shows soon when an answer is expected', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  await rig.settle(first);
  rig.session.respond();
  rig.timers.advance(2_499);
  t.notOk(rig.events.some(([name]) => name === 'reconnecting'));
  // The pong cannot come in the same instant.
  rig.timers.advance(1);
  t.match(await rig.take('reconnecting'), [/no sign of life/]);
});

t.test('a create without an answer: one new session, then it is over', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  rig.session.respond({ instructions: 'Greet.' });
  await first.take('response.create');
  await rig.pass(first, CREATE_LIMIT_MS);
  t.match(await rig.take('reconnecting'), [/no response was created/]);
  const second = await rig.peer.accept();
  await second.take('response.create');
  await rig.pass(second, CREATE_LIMIT_MS);
  t.match(await rig.take('failed'), [{ code: 'model_error' }]);
});

t.test('an answer that stops in the middle is taken up by a new session', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  rig.session.respond();
  first.send(created('resp_1', id(await first.take('response.create'))));
  await rig.settle(first);
  await rig.pass(first, 4_000);
  first.send(textDelta('resp_1', 'item_1', 'Well, '));
  await rig.take('text');
  await rig.pass(first, PROGRESS_LIMIT_MS - 1);
  t.notOk(
    rig.events.some(([name]) => name === 'reconnecting'),
    'it goes on',
  );
  await rig.pass(first, 1);
  t.match(await rig.take('reconnecting'), [/does not go on/]);
});

t.test('an expired session is replaced at once', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  first.send(apiError('session_expired', null, 'Your session hit the maximum duration of 60 minutes.'));
  first.close(1001, 'Your session hit the maximum duration of 60 minutes.');
  await rig.take('reconnecting');
  await rig.peer.accept();
  t.match(await rig.take('ready'), [{ renewed: true }]);
});

t.test('a renewal moves over between turns, and the old socket serves until then', async (t) => {
  const rig = await openRig(t, { renewAfterSeconds: 2 });
  const { session } = rig;
  const first = await rig.connect();
  await answer(rig, first, 1, 'Hello.');
  session.respond();
  first.send(created('resp_2', id(await first.take('response.create'))));
  await rig.settle(first);
  rig.timers.advance(2_000);
  const second = await rig.peer.accept();
  await second.take('session.update');
  first.send(textDelta('resp_2', 'item_a2', 'How are you?'));
  await rig.settle(first);
  t.same(second.types(), ['session.update'], 'nothing is told to it while the answer runs');
  session.appendAudio(speech(40));
  first.send(done('resp_2'));
  await rig.take('responseDone');
  await rig.settle(first);
  t.same(second.types(), ['session.update'], 'nor while the caller speaks');
  session.appendAudio(speech(80));
  session.endTurn();
  first.send(committed('item_u0'));
  await rig.settle(first);
  t.same(second.types(), ['session.update'], 'nor before their words are known');
  first.send(transcribed('item_u0', 'Fine.'));
  t.match(await rig.take('ready'), [{ renewed: true }]);
  await first.closed;
  session.respond();
  await second.take('response.create');
  t.same(
    told(second).filter(([role]) => role !== 'system'),
    [
      ['assistant', 'Hello.'],
      ['assistant', 'How are you?'],
      ['user', 'Fine.'],
    ],
  );
  t.notOk(
    rig.events.some(([name]) => name === 'reconnecting'),
    'nobody notices',
  );
});

t.test('two items told as text, both cut: each stands where it stood', async (t) => {
  const rig = await openRig(t);
  const first = await rig.connect();
  rig.session.addText('system', 'Start.');
  await answer(rig, first, 1, 'One. One.');
  await answer(rig, first, 2, 'Two. Two.');
  await answer(rig, first, 3, 'Three. Three.');
  first.terminate();
  const second = await rig.peer.accept();
  await rig.take('ready');
  await rig.settle(second);
  const ids = items(second).map((item) => item.id);
  rig.session.interrupt([
    { itemId: 'item_a1', heardMs: 300, heardText: 'One.' },
    { itemId: 'item_a2', heardMs: 0, heardText: '' },
    { itemId: 'item_a3', heardMs: 100, heardText: 'Three.' },
  ]);
  await rig.settle(second);
  const replaced = second.received.slice(-5);
  t.match(replaced, [
    { type: 'conversation.item.delete', item_id: ids[1] },
    { type: 'conversation.item.create', previous_item_id: ids[0], item: { id: `${ids[1]}_cut` } },
    { type: 'conversation.item.delete', item_id: ids[2] },
    { type: 'conversation.item.delete', item_id: ids[3] },
    { type: 'conversation.item.create', previous_item_id: `${ids[1]}_cut` },
  ]);
});

t.test('a session is renewed at its age, and before its granted end', async (t) => {
  const byAge = await openRig(t, { renewAfterSeconds: 60 });
  const young = await byAge.connect();
  byAge.timers.advance(4_000);
  await byAge.settle(young);
  t.equal(byAge.peer.waiting(), 0, 'not yet');
  const old = await openRig(t, { renewAfterSeconds: 4 });
  await old.connect();
  old.timers.advance(4_000);
  await old.peer.accept();
  t.match(await old.take('ready'), [{ renewed: true }]);
});

t.test('a renewal that fails leaves the session in force alone', async (t) => {
  const rig = await openRig(t, { renewAfterSeconds: 2 });
  const first = await rig.connect();
  rig.peer.refusals.push(503);
  rig.timers.advance(2_000);
  while (rig.peer.refusals.length > 0) await new Promise((resolve) => setImmediate(resolve));
  await answer(rig, first, 1, 'Hello.');
  t.notOk(rig.events.some(([name]) => name === 'reconnecting' || name === 'failed'));
});

t.test('lost while a renewal is under way: the renewal takes over', async (t) => {
  const rig = await openRig(t, { renewAfterSeconds: 2 });
  const first = await rig.connect();
  rig.session.respond();
  first.send(created('resp_1', id(await first.take('response.create'))));
  await rig.settle(first);
  rig.timers.advance(2_000);
  const second = await rig.peer.accept();
  await second.take('session.update');
  first.terminate();
  await rig.take('reconnecting');
  await rig.take('ready');
  await second.take('response.create');
  t.pass();
});
