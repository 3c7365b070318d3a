// The agent's voice against a line that takes what it is given: how far ahead of the line it is, what a hold and a cut do to it.
import t from 'tap';
import { EchoGuard } from '../../../audio/echo-guard.ts';
import { BYTES_PER_MS, FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import { AgentVoice } from '../../../bridge/media/agent-voice.ts';
import { CallRecorder } from '../../../bridge/media/call-recorder.ts';
import { CallerClock } from '../../../bridge/media/caller-clock.ts';
import type { LineState } from '../../../bridge/media/line-watch.ts';

const sound = (ms: number) => Buffer.alloc(ms * BYTES_PER_MS, 1);

function open() {
  const floor = { holds: false };
  const line = { state: 'open' as LineState, lateMs: 0 };
  const sent: string[] = [];
  let sentMs = 0;
  const voice = new AgentVoice({
    format: MULAW_8K,
    floor,
    echo: new EchoGuard(),
    recorder: new CallRecorder({ path: null, now: () => 0, onError() {} }),
    recentLateMs: () => line.lateMs,
    onStart: (itemId) => sent.push(`starts ${itemId}`),
    counters: { framesOut: 0 },
  });
  const attach = () =>
    voice.attach(
      {
        look: () => line.state,
        cork() {},
        uncork() {},
        audio(payload) {
          sentMs += (payload.length / FRAME_BYTES) * FRAME_MS;
        },
        mark: (name) => sent.push(name),
        clear: () => sent.push('clear'),
        markBack() {},
      },
      new CallerClock(0),
    );
  attach();
  return { voice, floor, line, sent, attach, sentMs: () => sentMs };
}

t.test('an eighth of a second ahead of the line, and never more', async (t) => {
  const { voice, sentMs } = open();
  voice.push('a', sound(2_000));
  for (let nowMs = 1_000; nowMs < 2_000; nowMs += FRAME_MS) {
    voice.pace(nowMs);
    const aheadMs = sentMs() - (nowMs - 1_000);
    t.ok(aheadMs > 60 && aheadMs <= 120, `${aheadMs} ms ahead after ${nowMs - 1_000}`);
  }
  t.equal(voice.frames, sentMs() / FRAME_MS);
});

t.test('a thread that ran late lately gives more ahead, and so does a line that ran dry', async (t) => {
  const late = open();
  late.line.lateMs = 140;
  late.voice.push('a', sound(2_000));
  late.voice.pace(0);
  t.equal(late.sentMs(), 200, 'what the next tick may be late by, and a margin');
  const dry = open();
  dry.voice.push('a', sound(2_000));
  dry.voice.pace(0);
  dry.voice.pace(500);
  t.equal(dry.sentMs(), 120 + 160);
});

t.test('a hold: all that was sent is marked, nothing more goes out, and it goes on from there', async (t) => {
  const { voice, floor, sent, sentMs } = open();
  voice.push('a', sound(500));
  for (const nowMs of [0, 40]) voice.pace(nowMs);
  t.same(sent, ['starts a', '0:960']);
  floor.holds = true;
  voice.pace(60);
  t.same(sent.slice(2), ['0:1280']);
  for (const nowMs of [80, 100, 400]) voice.pace(nowMs);
  t.equal(sentMs(), 160);
  floor.holds = false;
  voice.pace(420);
  t.equal(sentMs(), 160 + 120, 'it is no line that ran dry');
});

t.test('a cut clears the carrier where something was to be heard, and tells what was', async (t) => {
  const { voice, sent } = open();
  t.same(voice.cut(0), []);
  t.notOk(sent.includes('clear'), 'nothing to clear');
  t.ok(voice.push('a', sound(500)), 'the first of it');
  t.notOk(voice.push('a', sound(100)));
  for (let nowMs = 0; nowMs <= 100; nowMs += FRAME_MS) voice.pace(nowMs);
  t.same(voice.markBack('1:960', 120), []);
  t.same(voice.cut(130), [{ itemId: 'a', heardMs: 120, receivedMs: 600, complete: false }]);
  t.equal(sent.at(-1), 'clear');
  t.notOk(voice.pending());
  voice.push('b', sound(40));
  voice.finish('b');
  voice.pace(140);
  t.same(sent.slice(-2), ['starts b', '2:320'], 'what follows is not behind what was cut');
  t.match(voice.markBack('2:320', 300), [{ itemId: 'b' }]);
});

t.test('nothing goes to a line that is slow, dead or gone', async (t) => {
  const { voice, line, attach, sentMs } = open();
  voice.push('a', sound(500));
  for (const state of ['slow', 'media_timeout', 'carrier_backpressure'] as const) {
    line.state = state;
    voice.pace(0);
    t.equal(sentMs(), 0, state);
  }
  line.state = 'open';
  voice.detach(10);
  voice.pace(20);
  t.equal(sentMs(), 0);
  attach();
  voice.pace(40);
  t.equal(sentMs(), 120);
});

t.test('a line with nothing to say is looked at, and no more', async (t) => {
  const { voice, floor, sentMs } = open();
  let asked = 0;
  Object.defineProperty(floor, 'holds', {
    get() {
      asked++;
      return false;
    },
  });
  for (let nowMs = 0; nowMs < 2_000; nowMs += FRAME_MS) voice.pace(nowMs);
  t.equal(asked, 0);
  voice.push('a', sound(2_000));
  voice.pace(2_000);
  t.equal(asked, 1);
  t.equal(sentMs(), 120);
  voice.cut(2_010);
  voice.pace(2_020);
  t.equal(asked, 1);
  voice.push('b', sound(2_000));
  voice.pace(2_500);
  t.equal(sentMs(), 120 + 120, 'what was cut is no line that ran dry');
});
