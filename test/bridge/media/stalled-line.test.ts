// A line that stands still while somebody speaks, or loses much: what is said later lies on the call's clock where it was said.
import t, { type Test } from 'tap';
import { FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import type { OnWindow } from '../../../audio/vad/vad.ts';
import { createTwilioWire } from '../../../bridge/carriers/twilio/wire.ts';
import { FrameAges } from '../../../bridge/media/frame-age.ts';
import { MediaCall } from '../../../bridge/media/media-call.ts';
import type { ModelListener } from '../../../bridge/models/model.ts';
import type { FromMedia } from '../../../bridge/protocol/messages.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { deadSocket, deafVad, HeldClock, makePlan, muteModel, TOKEN } from './held-call.ts';

const WINDOW = 256;
const SPEECH = 0x10;
const QUIET = 0xff;
/** A turn, and how much of it the caller speaks. */
const TURN_MS = 4_000;
const SPEECH_MS = 1_600;

type Span = readonly [fromMs: number, toMs: number];
const within = (ms: number, [fromMs, toMs]: Span) => ms >= fromMs && ms < toMs;
const NEVER: Span = [0, 0];

/** A call whose detector hears a byte of speech as that, with what it told. */
function open(t: Test) {
  let nowMs = 1_000;
  const { now } = performance;
  performance.now = () => nowMs;
  t.teardown(() => {
    performance.now = now;
  });
  const clock = new HeldClock();
  const ear = { onWindow: (() => {}) as OnWindow, heard: [] as number[], sample: 0 };
  const posted: FromMedia[] = [];
  let turns = 0;
  let model: ModelListener | undefined;
  const call = new MediaCall(makePlan(), {
    format: MULAW_8K,
    clock,
    vad: deafVad((onWindow) => {
      ear.onWindow = onWindow;
      return { push: (mulaw) => void ear.heard.push(...mulaw), close() {} };
    }),
    rules: TURN_RULES,
    counters: { framesIn: 0, framesOut: 0 },
    frameAges: new FrameAges(),
    openModel(_name, _config, listener) {
      model = listener;
      return { ...muteModel(), endTurn: () => ++turns };
    },
    post: (message) => void posted.push(message),
  });
  t.teardown(() => call.release());
  model?.ready({ renewed: false, tookMs: 1 });
  const wire = createTwilioWire();
  call.attach(deadSocket(), wire, {
    type: 'started',
    streamId: 'stream',
    carrierCallId: 'carrier',
    parameters: { token: TOKEN },
    format: MULAW_8K,
  });
  let frames = 0;
  const waiting: Buffer[] = [];

  /** A turn of the caller's, whose frames come late or not at all for a while. Answers when it began and its line. */
  function turn({ late = NEVER, lost = NEVER }: { late?: Span; lost?: Span } = {}) {
    const beganMs = nowMs - 1_000;
    for (let ms = 0; ms < Math.max(TURN_MS, lost[1] + TURN_MS); ms += FRAME_MS) {
      nowMs += FRAME_MS;
      const number = ++frames;
      const payload = Buffer.alloc(FRAME_BYTES, ms < SPEECH_MS ? SPEECH : QUIET).toString('base64');
      const media = {
        track: 'inbound',
        chunk: `${number}`,
        timestamp: `${(number - 1) * FRAME_MS}`,
        payload,
      };
      if (!within(ms, lost))
        waiting.push(
          Buffer.from(
            JSON.stringify({ event: 'media', sequenceNumber: `${number}`, media, streamSid: 'stream' }),
          ),
        );
      if (!within(ms, late)) for (const message of waiting.splice(0)) call.media(wire.decode(message, false));
      while (ear.heard.length >= WINDOW) {
        const window = ear.heard.splice(0, WINDOW);
        ear.sample += WINDOW;
        const speaks = window.filter((byte) => byte === SPEECH).length > WINDOW / 2;
        ear.onWindow(speaks ? 0.95 : 0.01, ear.sample, speaks ? -25 : -66);
      }
      clock.tick(nowMs);
    }
    const lines = posted.splice(0).flatMap((one) => (one.type === 'transcript' ? one.items : []));
    return { beganMs, line: lines.findLast(({ role }) => role === 'caller') };
  }
  return turn;
}

const around = (ms: number, wantedMs: number) => Math.abs(ms - wantedMs) <= 2 * FRAME_MS;

t.test('frames that come late, again and again', async (t) => {
  const turn = open(t);
  for (let stalls = 0; stalls < 5; stalls++) {
    const { beganMs, line } = turn();
    t.ok(around(line?.startMs ?? -1, beganMs), `after ${stalls} stalls: from ${line?.startMs}, ${beganMs}`);
    t.ok(around(line?.endMs ?? -1, beganMs + SPEECH_MS), `to ${line?.endMs}`);
    turn({ late: [600, 1_500] });
  }
});

t.test('more lost than silence is put in for', async (t) => {
  const turn = open(t);
  turn({ lost: [2_400, 14_400] });
  const { beganMs, line } = turn();
  t.ok(around(line?.startMs ?? -1, beganMs), `from ${line?.startMs}, ${beganMs}`);
  t.ok(around(line?.endMs ?? -1, beganMs + SPEECH_MS), `to ${line?.endMs}`);
});
