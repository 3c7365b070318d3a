// Both voices of a call on the carrier's timeline: frames and marks that come late, in bursts, or from a carrier that stood still.
import t from 'tap';
import { decodeMulaw } from '../../../audio/g711.ts';
import { GapFiller } from '../../../audio/gap-filler.ts';
import { RecordingTimeline } from '../../../bridge/media/recording-timeline.ts';

const FRAME_MS = 20;
const FRAME = 160;
const CODES = 120;
const frame = (byte: number) => Buffer.alloc(FRAME, byte);
const PCM = new Int16Array(256);
decodeMulaw(
  Uint8Array.from({ length: 256 }, (_, byte) => byte),
  PCM,
);

/** The caller's frame of a time: which one it is stands in its first two bytes. */
function said(ms: number): Buffer {
  const number = ms / FRAME_MS;
  const made = frame(1 + (number % CODES));
  made[1] = 1 + Math.floor(number / CODES);
  return made;
}

/** The time of a frame that was written; -1 for silence. */
function timeOf(samples: Int16Array): number {
  if (samples[0] === 0) return -1;
  return (PCM.indexOf(samples[0] ?? 0) - 1 + CODES * (PCM.indexOf(samples[1] ?? 0) - 1)) * FRAME_MS;
}

/** A timeline behind a gap filler, as a live call has them, and what it writes: a figure per frame. */
function open(o: { started?: boolean } = {}) {
  const timeline = new RecordingTimeline();
  const left: number[] = [];
  const right: number[] = [];
  const write = (caller: Int16Array, agent: Int16Array) => {
    left.push(timeOf(caller));
    right.push(agent[0] ?? 0);
  };
  if (o.started !== false) timeline.start(write);
  const place = { nowMs: 0, offsetMs: 0 };
  const filler = new GapFiller((mulaw, atMs, filled) => {
    if (!filled) timeline.caller(mulaw, place.offsetMs + atMs - filler.leadMs, place.nowMs);
  });
  let chunk = 0;
  return {
    timeline,
    filler,
    left,
    right,
    start: () => timeline.start(write),
    /** The caller's frame of a time at the carrier, which comes at `nowMs`. */
    caller(mediaMs: number, nowMs: number) {
      place.nowMs = nowMs;
      filler.push(said(mediaMs), 100 + mediaMs, ++chunk);
    },
    /** A tick of a thread that is awake. */
    tick(nowMs: number, speaking = false) {
      filler.tick(nowMs, speaking);
      timeline.tick(nowMs);
    },
    /** Where in ms each frame of the caller lies off its place: one figure while all are off alike. */
    callerOff() {
      return [...new Set(left.flatMap((ms, index) => (ms < 0 ? [] : [index * FRAME_MS - ms])))];
    },
    /** Stretches of the agent's voice in ms. */
    agentAt() {
      const found: [number, number][] = [];
      for (const [index, sample] of right.entries()) {
        if (sample === 0) continue;
        const last = found.at(-1);
        if (last?.[1] === index * FRAME_MS) last[1] += FRAME_MS;
        else found.push([index * FRAME_MS, (index + 1) * FRAME_MS]);
      }
      return found;
    },
  };
}

t.test('frames in time -> each in its place', async (t) => {
  const call = open();
  for (let ms = 0; ms < 10_000; ms += FRAME_MS) {
    call.caller(ms, ms + FRAME_MS);
    call.tick(ms + FRAME_MS);
  }
  call.timeline.close(10_000);
  t.equal(call.left.length, 500);
  t.same(call.callerOff(), [0]);
  t.equal(call.timeline.lateSamples, 0);
});

t.test(
  'a line that is gone: silence as it passes, and what it is not known to have played is none',
  async (t) => {
    const call = open();
    for (let ms = 0; ms < 2_000; ms += FRAME_MS) {
      call.caller(ms, ms + FRAME_MS);
      call.tick(ms + FRAME_MS);
    }
    // A second of it, of which 400 ms are confirmed.
    for (let n = 0; n < 50; n++) {
      call.timeline.agent(frame(60), 2_000);
      if (n === 19 || n === 49) call.timeline.mark(`${n}`);
    }
    for (let ms = 2_000; ms < 2_600; ms += FRAME_MS) {
      if (ms === 2_400) call.timeline.markBack('19', ms);
      call.caller(ms, ms + FRAME_MS);
      call.tick(ms + FRAME_MS);
    }
    call.timeline.lost();
    call.timeline.markBack('49', 2_620);
    for (let ms = 2_600; ms < 14_600; ms += FRAME_MS) call.timeline.tick(ms + FRAME_MS);
    t.equal(
      call.left.length * FRAME_MS,
      12_600,
      'written as on any line: not all of it when the next one comes',
    );
    // Another stream begins, with a clock of its own.
    for (let n = 0; n < 10; n++) call.timeline.agent(frame(60), 14_600);
    for (let ms = 0; ms < 1_000; ms += FRAME_MS) {
      call.timeline.caller(said(ms), 14_600 + ms, 14_620 + ms);
      call.timeline.tick(14_620 + ms);
    }
    call.timeline.close(15_600);
    t.equal(call.left.length * FRAME_MS, 15_600);
    t.same(call.agentAt(), [
      [2_000, 2_400],
      [14_600, 14_800],
    ]);
    t.equal(call.left.findIndex((ms, i) => i >= 130 && ms >= 0) * FRAME_MS, 14_600, 'and so does the caller');
    t.equal(call.timeline.lateSamples, 0);
  },
);

t.test(
  'a voice handed over a frame late, by our clock, is not torn where the carrier still had some of it',
  async (t) => {
    for (const [lateMs, holes] of [
      [18, 0],
      [60, 1],
    ] as const) {
      const samples: number[] = [];
      const timeline = new RecordingTimeline();
      timeline.start((_caller, agent) => samples.push(...agent));
      // Half a second at 1,000 ms; what follows comes when by our clock nothing is left.
      for (let n = 0; n < 25; n++) timeline.agent(frame(60), 1_000);
      timeline.mark('one');
      timeline.agent(frame(60), 1_500 + lateMs);
      timeline.mark('two');
      timeline.markBack('one', 1_500 + lateMs);
      timeline.markBack('two', 1_520 + lateMs);
      timeline.close(4_000);
      const from = samples.findIndex((sample) => sample !== 0);
      const to = samples.findLastIndex((sample) => sample !== 0);
      const silent = samples.slice(from, to).filter((sample) => sample === 0).length;
      t.equal(silent > 0 ? 1 : 0, holes, `${lateMs} ms late: ${silent / 8} ms of silence`);
    }
  },
);

for (const stallMs of [600, 1_500, 3_160, 9_000, 14_000]) {
  for (const awake of [true, false]) {
    t.test(
      `${stallMs} ms of frames in one burst, ${awake ? 'ticks between' : 'no tick between'} -> each in its place`,
      async (t) => {
        const call = open();
        const from = 2_000;
        for (let ms = 0; ms < 20_000; ms += FRAME_MS) {
          const nowMs = ms + FRAME_MS;
          // The network, or our thread, stands still: then everything at once. The tick comes first after a standstill.
          const still = nowMs > from && nowMs < from + stallMs;
          if (still ? awake : true) call.tick(nowMs, true);
          if (still) continue;
          const first = nowMs === from + stallMs ? from : ms;
          for (let late = first; late <= ms; late += FRAME_MS) call.caller(late, nowMs);
        }
        call.timeline.close(20_000);
        t.equal(call.left.length, 1_000);
        t.same(call.callerOff(), [0]);
        t.notOk(call.left.includes(-1), 'no frame is missing');
        t.equal(call.timeline.lateSamples, 0);
      },
    );
  }
}

t.test('frames lost in a stall that was filled -> what follows is in its place', async (t) => {
  for (const lostMs of [300, 1_000, 2_500, 12_000]) {
    const call = open();
    for (let ms = 0; ms < 20_000; ms += FRAME_MS) {
      const still = ms >= 2_000 && ms < 2_000 + Math.max(1_500, lostMs);
      if (!still) {
        const first = ms === 2_000 + Math.max(1_500, lostMs) ? 2_000 + lostMs : ms;
        for (let late = first; late <= ms; late += FRAME_MS) call.caller(late, ms + FRAME_MS);
      }
      call.tick(ms + FRAME_MS, true);
    }
    call.timeline.close(20_000);
    t.same(call.callerOff(), [0], `${lostMs} ms lost`);
    t.equal(call.left.filter((ms) => ms < 0).length, lostMs / FRAME_MS);
  }
});

t.test('what is said until the file is open -> kept', async (t) => {
  const call = open({ started: false });
  for (let ms = 0; ms < 7_000; ms += FRAME_MS) {
    call.caller(ms, ms + FRAME_MS);
    call.tick(ms + FRAME_MS);
  }
  call.start();
  call.timeline.close(7_000);
  t.equal(call.left.length, 350);
  t.same(call.callerOff(), [0]);
  t.notOk(call.left.includes(-1));
});

t.test('a line that is away for two minutes -> silence as long as that, and nothing lost', async (t) => {
  const call = open();
  const away = { from: 1_000, to: 121_000 };
  for (let ms = 0; ms < 125_000; ms += FRAME_MS) {
    if (ms < away.from || ms >= away.to) {
      if (ms === away.to) call.timeline.agent(frame(77), ms);
      call.timeline.caller(said(ms), ms, ms + FRAME_MS);
    }
    call.tick(ms + FRAME_MS);
  }
  call.timeline.close(125_000);
  t.equal(call.left.length, 125_000 / FRAME_MS);
  t.same(call.callerOff(), [0]);
  t.equal(call.left.filter((ms) => ms < 0).length, (away.to - away.from) / FRAME_MS);
  t.same(call.agentAt(), [[away.to, away.to + FRAME_MS]]);
  t.equal(call.timeline.lateSamples, 0);
});

t.test('a second stream -> follows the first, never over it', async (t) => {
  const call = open();
  for (let ms = 0; ms < 1_000; ms += FRAME_MS) call.timeline.caller(said(ms), ms, 20);
  for (let ms = 0; ms < 100; ms += FRAME_MS) call.timeline.caller(said(5_000 + ms), 500 + ms, 520 + ms);
  call.timeline.close(1_100);
  t.same(call.callerOff(), [0, -4_000]);
  t.notOk(call.left.slice(0, 55).includes(-1));
  t.equal(call.timeline.lateSamples, 0);
});

/**
 * A carrier that plays what it is given: frames of both voices and marks in one order. It stands still from `stillFrom` for
 * `stillMs`, and then makes up for it at once, as one whose process or network was held up.
 */
function play(o: {
  sendAtMs: number;
  sendMs: number;
  stillFrom?: number;
  stillMs?: number;
  clearAtMs?: number;
  firstFrameLateMs?: number;
}) {
  const call = open();
  const { stillFrom = 0, stillMs = 0 } = o;
  /** What the carrier has been given and not played; what it has to say. */
  const buffer: (string | null)[] = [];
  const heard: [number, number][] = [];
  let sent = 0;
  let inFlight: (string | null | 'clear')[] = [];
  let owedFrom = 0;
  const late = o.firstFrameLateMs ?? 0;
  for (let nowMs = FRAME_MS; nowMs <= 20_000; nowMs += FRAME_MS) {
    call.tick(nowMs);
    // A sixth of a second ahead of what our own clock says is played.
    if (
      nowMs >= o.sendAtMs &&
      sent < o.sendMs &&
      o.sendAtMs + sent - nowMs < 160 &&
      (o.clearAtMs ?? Infinity) > nowMs
    ) {
      call.timeline.agent(frame(77), nowMs);
      inFlight.push(null);
      sent += FRAME_MS;
      if (sent % 100 === 0) {
        call.timeline.mark(`${sent}`);
        inFlight.push(`${sent}`);
      }
    }
    if (nowMs === o.clearAtMs) {
      call.timeline.cleared(nowMs);
      inFlight.push('clear');
    }
    if ((nowMs > stillFrom && nowMs < stillFrom + stillMs) || nowMs < late) continue;
    for (; owedFrom < nowMs; owedFrom += FRAME_MS) {
      // What lies in the socket is read only after the frames that were owed.
      if (owedFrom + FRAME_MS === nowMs) {
        for (const one of inFlight) {
          if (one === 'clear') buffer.length = 0;
          else buffer.push(one);
        }
        inFlight = [];
      }
      const marks: string[] = [];
      if (buffer[0] === null) {
        buffer.shift();
        const last = heard.at(-1);
        if (last?.[1] === owedFrom) last[1] += FRAME_MS;
        else heard.push([owedFrom, owedFrom + FRAME_MS]);
        while (typeof buffer[0] === 'string') marks.push(buffer.shift() as string);
      }
      for (const mark of marks) call.timeline.markBack(mark, nowMs);
      call.caller(owedFrom, nowMs);
    }
  }
  call.timeline.close(20_000);
  return { call, heard };
}

/** Whether two lists of stretches are the same within so many ms at each end. */
const near = (found: [number, number][], wanted: [number, number][], ms: number) =>
  found.length === wanted.length &&
  found.every(
    ([from, to], i) =>
      Math.abs(from - (wanted[i]?.[0] ?? 0)) <= ms && Math.abs(to - (wanted[i]?.[1] ?? 0)) <= ms,
  );

for (const [name, o] of Object.entries({
  'sent in time': { sendAtMs: 3_000, sendMs: 4_000 },
  'sent while the carrier stands still': { sendAtMs: 3_000, sendMs: 2_000, stillFrom: 2_900, stillMs: 3_160 },
  'the carrier stands still in the middle': {
    sendAtMs: 3_000,
    sendMs: 4_000,
    stillFrom: 4_000,
    stillMs: 1_500,
  },
  'sent before the first frame came': { sendAtMs: 100, sendMs: 3_000, firstFrameLateMs: 2_000 },
  'cleared in the middle': { sendAtMs: 3_000, sendMs: 4_000, clearAtMs: 4_000 },
  'cleared while the carrier stands still': {
    sendAtMs: 3_000,
    sendMs: 4_000,
    stillFrom: 2_900,
    stillMs: 2_000,
    clearAtMs: 4_000,
  },
})) {
  t.test(`the agent's voice, ${name} -> where it was played`, async (t) => {
    const { call, heard } = play(o);
    t.ok(near(call.agentAt(), heard, 40), `${JSON.stringify(call.agentAt())} for ${JSON.stringify(heard)}`);
    t.same(call.callerOff(), [0]);
    t.equal(call.timeline.lateSamples, 0);
  });
}
