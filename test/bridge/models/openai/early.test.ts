// A turn that may go on, and is taken back with what was answered to it: what the server is told, and what the talk is not.
import t from 'tap';
import type { Json, PeerSocket } from './model-peer.ts';
import {
  apiError,
  appended,
  audioDelta,
  committed,
  created,
  done,
  openRig,
  type Rig,
  speech,
  textDelta,
  transcribed,
} from './session-rig.ts';

const CALL = {
  id: 'item_call',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: 'look_up',
  arguments: '{}',
};
const TAKEN_BACK = { turn: 0, itemIds: ['item_said'], toolCallIds: ['call_1'] };
const SAID = speech(400, 1);
const SINCE = speech(120, 2);
const USAGE = { input_tokens: 9, output_tokens: 2, input_token_details: { text_tokens: 9, audio_tokens: 0 } };

/** The caller has paused, the model was asked, and is answering with words, sound and the call of a tool. */
async function answering(rig: Rig): Promise<{ socket: PeerSocket; requestId: unknown }> {
  const socket = await rig.connect();
  rig.session.appendAudio(SAID);
  t.equal(rig.session.endTurn({ mayGoOn: true }), 0);
  rig.session.respond();
  rig.session.appendAudio(SINCE);
  const { event_id: requestId } = await socket.take('response.create');
  socket.send(created('resp_1', requestId));
  socket.send(textDelta('resp_1', 'item_said', 'One moment.'));
  socket.send(audioDelta('resp_1', 'item_said', speech(20)));
  socket.send({ type: 'response.output_item.done', response_id: 'resp_1', item: CALL });
  await rig.settle(socket);
  return { socket, requestId };
}

/** Of the events from the first of a type on. */
const typesFrom = (socket: PeerSocket, from: number) => socket.types().slice(from);
const itemsDeleted = (socket: PeerSocket) =>
  socket.received.filter(({ type }) => type === 'conversation.item.delete').map(({ item_id }) => item_id);

t.test('taken back: cancelled, all of it deleted, and the sound given again as one turn', async (t) => {
  const rig = await openRig(t);
  const { socket, requestId } = await answering(rig);
  socket.send(committed('item_turn'));
  socket.send(transcribed('item_turn', 'Good'));
  await rig.settle(socket);
  t.match(await rig.take('callerText'), [0, 'Good'], 'the words of a turn that may go on are told');
  const before = socket.received.length;
  rig.session.takeBack(TAKEN_BACK);
  await rig.settle(socket);
  t.same(typesFrom(socket, before), [
    'response.cancel',
    'conversation.item.delete',
    'conversation.item.delete',
    'conversation.item.delete',
    'input_audio_buffer.clear',
    'input_audio_buffer.append',
  ]);
  t.same(itemsDeleted(socket), ['item_call', 'item_said', 'item_turn']);
  const again = Buffer.concat(
    socket.received
      .slice(before)
      .filter(({ type }) => type === 'input_audio_buffer.append')
      .map(({ audio }) => Buffer.from(String(audio), 'base64')),
  );
  t.ok(again.equals(Buffer.concat([SAID, SINCE])), 'every sample once, in order');
  const metadata = { request_id: requestId };
  socket.send(done('resp_1', 'cancelled', { usage: USAGE, metadata }));
  t.match(await rig.take('usage'), [{ input_text_tokens: 9 }, 'taken-back']);
  rig.session.appendAudio(speech(200, 3));
  t.equal(rig.session.endTurn(), 1);
  rig.session.respond();
  t.match(await socket.take('response.create'), {});
  await rig.settle(socket);
  t.same(itemsDeleted(socket).length, 3, 'nothing is deleted twice');
});

t.test('taken back before the server knows the turn: its item goes when it comes', async (t) => {
  const rig = await openRig(t);
  const { socket } = await answering(rig);
  rig.session.takeBack(TAKEN_BACK);
  await rig.settle(socket);
  t.same(itemsDeleted(socket), ['item_call', 'item_said']);
  socket.send(committed('item_turn'));
  socket.send({ ...transcribed('item_turn', 'Good'), usage: { type: 'duration', seconds: 2 } });
  t.match(await rig.take('usage'), [{ transcription_seconds: 2 }, 'words'], 'what it cost is told');
  await rig.settle(socket);
  t.same(itemsDeleted(socket), ['item_call', 'item_said', 'item_turn']);
  t.notOk(
    rig.events.some(([name]) => name === 'callerText'),
    'and no words of a turn that was none',
  );
});

t.test(
  'taken back before the response was created: cancelled when it comes, and what it used is told apart',
  async (t) => {
    const rig = await openRig(t);
    const socket = await rig.connect();
    rig.session.appendAudio(SAID);
    rig.session.endTurn({ mayGoOn: true });
    rig.session.respond();
    const { event_id: requestId } = await socket.take('response.create');
    rig.session.takeBack({ turn: 0, itemIds: [], toolCallIds: [] });
    socket.send(created('resp_1', requestId));
    await socket.take('response.cancel');
    socket.send(done('resp_1', 'cancelled', { usage: USAGE, metadata: { request_id: requestId } }));
    t.match(await rig.take('usage'), [{ input_text_tokens: 9 }, 'taken-back']);
  },
);

t.test('the turn was over: it stands, and can be taken back no more', async (t) => {
  const rig = await openRig(t);
  const { socket } = await answering(rig);
  socket.send(committed('item_turn'));
  rig.session.clearAudio();
  await rig.settle(socket);
  const before = socket.received.length;
  rig.session.takeBack({ turn: 0, itemIds: [], toolCallIds: [] });
  await rig.settle(socket);
  t.same(typesFrom(socket, before), ['response.cancel']);
});

t.test('the session is lost and taken back then: the new one knows neither call nor turn', async (t) => {
  const rig = await openRig(t);
  const { socket } = await answering(rig);
  socket.terminate();
  await rig.take('reconnecting');
  rig.timers.advance(1_000);
  const next = await rig.peer.accept();
  await rig.take('ready');
  rig.session.takeBack(TAKEN_BACK);
  await rig.settle(next);
  const told = next.received
    .filter(({ type }) => type === 'conversation.item.create')
    .map(({ item }) => item as Json);
  const call = told.find(({ type }) => type === 'function_call');
  if (call !== undefined) t.ok(itemsDeleted(next).includes(call.id), 'the call goes there too');
  next.send(committed('item_again'));
  await rig.settle(next);
  t.ok(itemsDeleted(next).includes('item_again'), 'and the turn, told again');
  t.ok(appended(next).subarray(-SINCE.length).equals(SINCE));
  next.send(apiError('input_audio_buffer_commit_empty', null));
  await rig.settle(next);
});

t.test(
  'what a response said unheard after it was taken back goes, though its end does not name it',
  async (t) => {
    const rig = await openRig(t);
    const { socket } = await answering(rig);
    socket.send(committed('item_turn'));
    await rig.settle(socket);
    rig.session.takeBack(TAKEN_BACK);
    socket.send(textDelta('resp_1', 'item_late', 'And'));
    socket.send(audioDelta('resp_1', 'item_late', speech(20)));
    socket.send({
      type: 'response.output_item.done',
      response_id: 'resp_1',
      item: { ...CALL, id: 'item_late_call' },
    });
    socket.send(done('resp_1', 'cancelled'));
    await rig.settle(socket);
    t.same(itemsDeleted(socket).slice(3), ['item_late', 'item_late_call']);
    t.notOk(rig.events.some(([name, it]) => name === 'text' && it === 'item_late'));
  },
);

for (const echoes of [true, false]) {
  t.test(
    `a server that deletes nothing while the response is cancelled, ${echoes ? 'and says what' : 'not saying what'} it refuses`,
    async (t) => {
      const rig = await openRig(t);
      const { socket } = await answering(rig);
      socket.send(committed('item_turn'));
      await rig.settle(socket);
      rig.session.takeBack(TAKEN_BACK);
      await rig.settle(socket);
      const deletions = () => socket.received.filter(({ type }) => type === 'conversation.item.delete');
      const [gone, ...refused] = deletions();
      socket.send({ type: 'conversation.item.deleted', item_id: gone!.item_id });
      const refuse = (one: Json) => socket.send(apiError('item_in_use', echoes ? one.event_id : null));
      for (const one of refused) refuse(one);
      rig.session.appendAudio(speech(200, 3));
      rig.session.endTurn();
      rig.session.respond();
      await rig.settle(socket);
      t.equal(deletions().length, 3, 'the response is in the way yet');
      socket.send(done('resp_1', 'cancelled'));
      const { event_id: requestId } = await socket.take('response.create');
      t.same(itemsDeleted(socket).slice(3), ['item_said', 'item_turn'], 'once more, before the next answer');
      const again = deletions().slice(3);
      t.equal(new Set(deletions().map(({ event_id }) => event_id)).size, 5, 'each by a name of its own');
      for (const one of again) refuse(one);
      socket.send(created('resp_2', requestId));
      socket.send(done('resp_2'));
      await rig.settle(socket);
      t.equal(deletions().length, 5, 'and no third time');
    },
  );
}
