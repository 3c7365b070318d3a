// The agent's voice against a line that takes what it is given: how far ahead of the line it is, what a hold and a cut do to it,
// and, whatever comes, that what the line plays is in order, once, and as loud as it should be.
import fc from 'fast-check';
import t from 'tap';
import { EchoGuard } from '../../../audio/echo-guard.ts';
import {
  type AudioFormat,
  BYTES_PER_MS,
  bytesPerMs,
  FRAME_BYTES,
  FRAME_MS,
  frameBytes,
  MULAW_8K,
} from '../../../audio/format.ts';
import { AgentVoice } from '../../../bridge/media/agent-voice.ts';
import { CallRecorder } from '../../../bridge/media/call-recorder.ts';
import { CallerClock } from '../../../bridge/media/caller-clock.ts';
import type { LineState } from '../../../bridge/media/line-watch.ts';
import type { Floor } from '../../../bridge/turns/floor.ts';
import { inFormat, samplesOf } from '../../audio/sounds.ts';
import { seeded } from '../../random.ts';
import { RUNS, SEED } from '../seed.ts';

const sound = (ms: number) => Buffer.alloc(ms * BYTES_PER_MS, 1);

type How = Floor['agentVoice'];

function open(format: AudioFormat = MULAW_8K) {
  const floor = { agentVoice: 'full' as How };
  const line = { state: 'open' as LineState, lateMs: 0 };
  const sent: string[] = [];
  const played: Buffer[] = [];
  let sentMs = 0;
  const voice = new AgentVoice({
    format,
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
          sentMs += (payload.length / frameBytes(format)) * FRAME_MS;
          played.push(Buffer.from(payload));
        },
        mark: (name) => sent.push(name),
        clear: () => sent.push('clear'),
        markBack() {},
      },
      new CallerClock(0),
    );
  attach();
  return { voice, floor, line, sent, played, attach, sentMs: () => sentMs };
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

t.test(
  'a pause: all that was sent is marked, nothing more goes out, and it goes on from there',
  async (t) => {
    const { voice, floor, sent, sentMs } = open();
    voice.push('a', sound(500));
    for (const nowMs of [0, 40]) voice.pace(nowMs);
    t.same(sent, ['starts a', '0:960']);
    floor.agentVoice = 'paused';
    voice.pace(60);
    t.same(sent.slice(2), ['0:1280']);
    for (const nowMs of [80, 100, 400]) voice.pace(nowMs);
    t.equal(sentMs(), 160);
    floor.agentVoice = 'full';
    voice.pace(420);
    t.equal(sentMs(), 160 + 120, 'it is no line that ran dry');
  },
);

/** How loud the frames of what was played are beside the sound that was pushed, in dB. */
function loudness(format: AudioFormat, pushed: Buffer, played: readonly Buffer[]): number[] {
  const [own, heard] = [pushed, Buffer.concat(played)].map((sound) =>
    samplesOf(sound, format, format.rateHz),
  ) as [Int16Array, Int16Array];
  const frame = (format.rateHz / 1000) * FRAME_MS;
  const energy = (samples: Int16Array, n: number) =>
    samples.subarray(n * frame, (n + 1) * frame).reduce((sum, sample) => sum + sample * sample, 0);
  return Array.from(
    { length: Math.floor(heard.length / frame) },
    (_, n) => 10 * Math.log10(energy(heard, n) / energy(own, n)),
  );
}

/** Four seconds of noise: no place in it is like another. */
const random = seeded(7);
const NOISE = Buffer.from(
  Int16Array.from({ length: 8 * 4_000 }, () => Math.round((random() - 0.5) * 20_000)).buffer,
);
const noiseIn = (format: AudioFormat) => inFormat(NOISE, { encoding: 'pcm16', rateHz: 8000 }, format);

const LINES = (['mulaw', 'alaw', 'pcm16'] as const).flatMap((encoding) =>
  ([8000, 16000, 24000] as const).map((rateHz): AudioFormat => ({ encoding, rateHz })),
);

t.test('ducked: low at once on any line, the carrier has less of it, and it rises again', async (t) => {
  for (const format of LINES) {
    const { voice, floor, played, sentMs } = open(format);
    const name = `${format.encoding} ${format.rateHz}`;
    const noise = noiseIn(format);
    voice.push('a', noise);
    let nowMs = 0;
    const pass = (untilMs: number) => {
      for (; nowMs < untilMs; nowMs += FRAME_MS) voice.pace(nowMs);
    };
    pass(400);
    const fullFrames = sentMs() / FRAME_MS;
    floor.agentVoice = 'ducked';
    pass(420 + FRAME_MS);
    t.ok(sentMs() - nowMs <= 120, 'what the carrier has is played first');
    pass(1_000);
    const aheadMs = sentMs() - (nowMs - FRAME_MS);
    t.ok(aheadMs >= 40 && aheadMs <= 60, `${name}: ${aheadMs} ms ahead`);
    const lowFrames = sentMs() / FRAME_MS;
    floor.agentVoice = 'full';
    pass(1_600);
    const db = loudness(format, noise, played);
    const within = (part: readonly number[], low: number, high: number) =>
      part.every((one) => one >= low && one <= high);
    t.ok(within(db.slice(0, fullFrames), -0.01, 0.01), `${name}: as it came`);
    t.ok(within(db.slice(fullFrames + 1, lowFrames), -14.5, -13.5), `${name}: low`);
    t.ok(within(db.slice(lowFrames + 6), -0.01, 0.01), `${name}: as it came again`);
  }
});

t.test('a thread that ran late is covered however low the voice is', async (t) => {
  const { voice, floor, line, sentMs } = open();
  line.lateMs = 140;
  floor.agentVoice = 'ducked';
  voice.push('a', sound(2_000));
  voice.pace(0);
  t.equal(sentMs(), 200);
});

t.test('an answer after one that ended low begins as it came', async (t) => {
  for (const how of ['heard', 'cut', 'another stream'] as const) {
    const { voice, floor, played, attach } = open();
    const noise = noiseIn(MULAW_8K);
    floor.agentVoice = 'ducked';
    voice.push('a', noise.subarray(0, FRAME_BYTES));
    voice.finish('a');
    voice.pace(0);
    if (how === 'heard') voice.markBack('0:160', 40);
    if (how === 'cut') voice.cut(40);
    if (how === 'another stream') {
      voice.detach(40);
      attach();
    }
    floor.agentVoice = 'full';
    voice.pace(60);
    played.length = 0;
    voice.push('b', noise);
    voice.pace(80);
    t.ok(Buffer.concat(played).equals(noise.subarray(0, Buffer.concat(played).length)), how);
  }
});

const MOVES = ['full', 'ducked', 'paused', 'late', 'heard', 'cut', 'lost', 'more', 'wait'] as const;

t.test(
  'whatever comes: every item is heard in order, once, left out by a cut alone, and full again',
  async (t) => {
    const steps = fc.array(fc.tuple(fc.constantFrom(...MOVES), fc.integer({ min: 1, max: 30 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.constantFrom(...LINES), steps, (format, moves) => {
        const { voice, floor, line, sent, played, attach } = open(format);
        const perMs = bytesPerMs(format);
        const noise = noiseIn(format);
        let nowMs = 0;
        let item = 0;
        let pushed = 0;
        /** Where in its own item each byte stands that the line was given: items begin anew in the noise. */
        let given = 0;
        /** What a line that is lost has played of it, and where in it this one began. */
        let heard = 0;
        let lineFrom = 0;
        let stretch = -1;
        const begin = () => {
          item++;
          stretch++;
          pushed = 0;
          given = 0;
          heard = 0;
          lineFrom = 0;
          played.length = 0;
        };
        const push = (ms: number, mostMs: number) => {
          const bytes = Math.max(0, Math.min(mostMs * perMs - pushed, ms * perMs));
          voice.push(`item-${item}`, noise.subarray(pushed, pushed + bytes));
          pushed += bytes;
        };
        /** What was given since the last look is the next of the item, no louder than it, and never below low. */
        const look = () => {
          const next = Buffer.concat(played);
          played.length = 0;
          const own = samplesOf(noise.subarray(given, given + next.length), format, format.rateHz);
          const heard = samplesOf(next, format, format.rateHz);
          given += next.length;
          if (given > pushed) throw new Error('more than there is');
          let [both, mine, all] = [0, 0, 0];
          for (let n = 0; n < own.length; n++) {
            both += own[n]! * heard[n]!;
            mine += own[n]! ** 2;
            all += heard[n]! ** 2;
          }
          if (mine === 0) return;
          // Within one look it may have gone from full to low.
          if (both / Math.sqrt(mine * all) < 0.75) throw new Error(`item ${item}: not what comes next`);
          const gain = both / mine;
          if (gain > 1.001 || gain < 0.18) throw new Error(`as loud as ${gain}`);
        };
        const tick = () => {
          const before = given;
          voice.pace(nowMs);
          look();
          if (floor.agentVoice === 'paused' && given !== before) throw new Error('given while it pauses');
          nowMs += FRAME_MS;
        };
        begin();
        for (const [move, count] of moves) {
          switch (move) {
            case 'full':
            case 'ducked':
            case 'paused':
              floor.agentVoice = move;
              break;
            case 'late':
              line.lateMs = count * 10;
              break;
            case 'heard':
              for (const name of sent.splice(0)) {
                voice.markBack(name, nowMs);
                const [of, position] = name.split(':').map(Number);
                if (of === stretch) heard = Math.min(given, lineFrom + position!);
              }
              break;
            case 'lost':
              voice.detach(nowMs);
              attach();
              stretch++;
              given = heard;
              lineFrom = heard;
              break;
            case 'cut':
              voice.cut(nowMs);
              begin();
              break;
            case 'more':
              push(count * FRAME_MS, 3_000);
              break;
            case 'wait':
              nowMs += count * 5;
          }
          for (let n = 0; n < count % 7; n++) tick();
        }
        // In the end it is full again, and all of it is played.
        floor.agentVoice = 'full';
        push(400, 3_400);
        for (let n = 0; n < 400 && given < pushed; n++) {
          tick();
          for (const name of sent.splice(0)) voice.markBack(name, nowMs);
        }
        if (given < pushed) throw new Error(`${pushed - given} bytes are kept back`);
        push(200, 3_600);
        const from = given;
        while (given < pushed && nowMs < 1e6) {
          voice.pace(nowMs);
          const next = Buffer.concat(played);
          played.length = 0;
          if (!next.equals(noise.subarray(given, given + next.length))) throw new Error('not full again');
          given += next.length;
          nowMs += FRAME_MS;
        }
        if (given === from && pushed > from) throw new Error('nothing more is given');
      }),
      { seed: SEED, numRuns: 300 * RUNS },
    );
    t.pass(`seed ${SEED}`);
  },
);

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

t.test('what a line had that is gone, and is not known to be heard, goes to the next', async (t) => {
  const { voice, sent, played, attach } = open();
  const noise = noiseIn(MULAW_8K).subarray(0, 300 * BYTES_PER_MS);
  voice.push('a', noise);
  voice.finish('a');
  for (let nowMs = 0; nowMs < 400; nowMs += FRAME_MS) voice.pace(nowMs);
  t.same(sent.splice(0), ['starts a', '0:960', '0:1920', '0:2400']);
  voice.markBack('0:960', 400);
  voice.detach(410);
  voice.pace(420);
  played.length = 0;
  attach();
  for (let nowMs = 5_000; nowMs < 5_400; nowMs += FRAME_MS) voice.pace(nowMs);
  t.ok(Buffer.concat(played).equals(noise.subarray(960)), 'from the last mark on');
  t.same(sent, ['1:960', '1:1440']);
  t.same(voice.markBack('0:2400', 5_400), [], 'a mark of the line before');
  t.ok(voice.pending());
  t.equal(voice.confirmsMs('1:1440'), 180);
  t.match(voice.markBack('1:1440', 5_420), [{ itemId: 'a' }]);
  t.notOk(voice.pending());
});

t.test('a line with nothing to say is looked at, and no more', async (t) => {
  const { voice, floor, sentMs } = open();
  let asked = 0;
  Object.defineProperty(floor, 'agentVoice', {
    get(): How {
      asked++;
      return 'full';
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
