// One call between a carrier's socket and a model that are held: whose stream it is, what is told when it goes, and that the
// line leaves for what a tool asked and for nothing else.
import { createHash } from 'node:crypto';
import t from 'tap';
import { FRAME_BYTES, MULAW_8K } from '../../../audio/format.ts';
import type { OnWindow } from '../../../audio/vad/vad.ts';
import { createTwilioWire } from '../../../bridge/carriers/twilio/wire.ts';
import { FrameAges } from '../../../bridge/media/frame-age.ts';
import { MEDIA_TIMEOUT_MS } from '../../../bridge/media/line-watch.ts';
import { MediaCall } from '../../../bridge/media/media-call.ts';
import type { ModelListener } from '../../../bridge/models/model.ts';
import type { FromMedia } from '../../../bridge/protocol/messages.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { deadSocket, deafVad, HeldClock, makePlan, muteModel, TOKEN } from './held-call.ts';

const tool = (name: string) => ({ name, description: '', parameters: { type: 'object' } });

const PLAN = makePlan({ direction: 'outbound', model: { tools: [tool('send_dtmf'), tool('look_up')] } });

function open(vad = deafVad()) {
  const posted: FromMedia[] = [];
  const closed: number[] = [];
  const clock = new HeldClock();
  let listener: ModelListener | undefined;
  const call = new MediaCall(PLAN, {
    format: MULAW_8K,
    clock,
    vad,
    rules: TURN_RULES,
    counters: { framesIn: 0, framesOut: 0 },
    frameAges: new FrameAges(),
    openModel(_name, _config, given) {
      listener = given;
      return muteModel();
    },
    post: (message) => void posted.push(message),
  });
  const attach = (token = TOKEN) => {
    const socket = deadSocket({ close: (code) => closed.push(code) });
    return call.attach(socket, createTwilioWire(), {
      type: 'started',
      streamId: 'stream',
      carrierCallId: 'carrier',
      parameters: { token },
      format: MULAW_8K,
    });
  };
  const told = (type: FromMedia['type']) => posted.filter((message) => message.type === type);
  const tick = () => clock.tick(performance.now());
  if (listener === undefined) throw new Error('the model was not opened');
  listener.ready({ renewed: false, tookMs: 1 });
  return { call, model: listener, posted, closed, attach, told, tick };
}

/** The line leaves for keys, while another tool runs. */
function away() {
  const rig = open();
  rig.attach();
  rig.model.toolCall({ toolCallId: 'slow', name: 'look_up', argumentsJson: '{}' });
  rig.model.toolCall({ toolCallId: 'keys', name: 'send_dtmf', argumentsJson: '{"digits":"1"}' });
  // Its own line waits for nothing but the other tool.
  rig.call.toolResult('slow', '{}');
  rig.model.toolCall({ toolCallId: 'late', name: 'look_up', argumentsJson: '{}' });
  return rig;
}

t.test('a stream is the call`s by its token, once', async (t) => {
  const { call, attach, closed, told } = open();
  t.notOk(attach('guessed'));
  t.ok(attach());
  t.notOk(attach(), 'used');
  t.equal(told('media-started').length, 1);
  call.expectStream(createHash('sha256').update('next').digest('hex'));
  t.ok(attach('next'));
  t.same(closed, [1000], 'the one before is closed');
  await call.release();
  call.expectStream(PLAN.tokenHash);
  t.notOk(attach(), 'released');
});

t.test('who spoke when another stream took over has had his turn, if he says no more', async (t) => {
  const windows: OnWindow[] = [];
  const { call, attach, told, tick } = open(
    deafVad((onWindow) => {
      windows.push(onWindow);
      return { push() {}, close() {} };
    }),
  );
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  const start = now.call(performance);
  attach();
  for (let window = 1; window <= 20; window++) windows[0]!(0.9, window * 256, -20);
  performance.now = () => start + 1_000;
  call.expectStream(createHash('sha256').update('next').digest('hex'));
  attach('next');
  performance.now = () => start + 6_000;
  tick();
  t.same(
    told('floor').map((message) => message.type === 'floor' && message.floor),
    ['none', 'caller', 'none'],
  );
  performance.now = now;
  await call.release();
});

t.test('the end of the stream is told, once', async (t) => {
  const { call, attach, told } = open();
  attach();
  call.detach('lost');
  call.detach('lost');
  t.match(told('stream-ended'), [{ how: 'lost' }]);
  await call.release();
});

t.test('a stream that another follows has ended, when the line was last heard', async (t) => {
  const { call, attach, told } = open();
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  const start = Math.ceil(now.call(performance));
  performance.now = () => start;
  attach();
  performance.now = () => start + 500;
  call.media({ type: 'audio', payload: Buffer.alloc(FRAME_BYTES, 0xff), timestampMs: 0, chunk: 1 });
  performance.now = () => start + 9_000;
  call.expectStream(createHash('sha256').update('next').digest('hex'));
  t.ok(attach('next'));
  t.match(told('stream-ended'), [{ how: 'lost', why: 'closed', atMs: 500 }]);
  t.match(told('media-started'), [{ atMs: 0 }, { atMs: 9_000 }]);
  performance.now = now;
  await call.release();
});

t.test('a line that leaves for keys does not end, whatever another tool answers meanwhile', async (t) => {
  const { call, told } = away();
  t.equal(told('digits-requested').length, 1);
  call.detach('stopped');
  call.toolResult('late', '{}');
  t.same(told('stream-ended'), []);
  await call.release();
});

t.test('a line that is back ends as any other', async (t) => {
  const { call, attach, told } = away();
  call.detach('stopped');
  call.expectStream(PLAN.tokenHash);
  t.ok(attach());
  call.detach('lost');
  t.match(told('stream-ended'), [{ how: 'lost' }]);
  await call.release();
});

t.test('a carrier that refuses the keys: who hung up meanwhile is told of', async (t) => {
  const { call, told } = away();
  call.detach('stopped');
  call.toolResult('keys', '{"error":"refused"}');
  t.match(told('stream-ended'), [{ how: 'lost' }]);
  await call.release();
});

t.test(
  'a dead line is given up: it is closed, told as lost and why, once, and another may come',
  async (t) => {
    const { call, attach, told, tick, closed } = open();
    attach();
    const { now } = performance;
    t.teardown(() => {
      performance.now = now;
    });
    const start = now.call(performance);
    performance.now = () => start + 1_000;
    call.media({ type: 'audio', payload: Buffer.alloc(FRAME_BYTES, 0xff), timestampMs: 0, chunk: 1 });
    tick();
    for (let atMs = 2_000; atMs <= 1_000 + MEDIA_TIMEOUT_MS + 100; atMs += 1_000) {
      t.same(told('stream-ended'), []);
      performance.now = () => start + atMs;
      tick();
    }
    performance.now = () => start + 1_000 + MEDIA_TIMEOUT_MS + 100;
    tick();
    tick();
    t.match(told('stream-ended'), [{ how: 'lost', why: 'media_timeout' }]);
    const [ended] = told('stream-ended');
    t.ok(ended?.type === 'stream-ended' && Math.abs(ended.atMs - 1_000) < 100, 'when it was heard last');
    t.same([closed, told('finished')], [[1000], []]);
    call.detach('lost');
    t.equal(told('stream-ended').length, 1, 'its socket is closed, which is known');
    call.expectStream(PLAN.tokenHash);
    t.ok(attach());
    t.equal(told('media-started').length, 2);
    performance.now = now;
    await call.release();
  },
);

t.test('what it was made of is told with its end', async (t) => {
  const { call, attach, told } = open();
  attach();
  const payload = Buffer.alloc(FRAME_BYTES, 0xff);
  for (const chunk of [1, 2, 2, 5])
    call.media({ type: 'audio', payload, timestampMs: 20 * (chunk - 1), chunk });
  call.media({ type: 'malformed', why: 'a test' });
  await Promise.all([call.release(), call.release()]);
  t.match(told('released'), [
    { stats: { framesIn: 4, duplicateFrames: 1, malformedMessages: 1, recordingFrames: 0 }, recording: null },
  ]);
});
