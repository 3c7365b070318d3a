// The agent's own voice coming back, at the levels and delays of telephone lines and out of rooms, and a caller over it.
import t from 'tap';
import { EchoGuard } from '../../audio/echo-guard.ts';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { pcmLevelDb } from '../../audio/levels.ts';
import type { Tap } from '../quality/line.ts';
import { tapsOf } from '../quality/talks/rooms.ts';
import { seeded } from '../random.ts';
import { noise, readFixture } from './fixtures.ts';

const WINDOW = 256;

interface Line {
  agent: Int16Array;
  /** What the caller's side sends beside the echo. */
  caller?: Int16Array;
  callerDb?: number;
  /** Where the caller begins. */
  callerAtMs?: number;
  echo?: Echo;
  /** The line changes: another echo from then on, or none. */
  later?: { atMs: number; echo?: Echo };
  /** Only these windows are looked at. */
  fromMs?: number;
  toMs?: number;
}

interface Echo {
  gainDb: number;
  delayMs: number;
  taps?: readonly Tap[];
}

/** Windows louder than the line's noise, and how many of them the guard explains. */
function listen(o: Line, guard = new EchoGuard()) {
  const ms = Math.floor(o.agent.length / 8);
  const sent = new Uint8Array(o.agent.length);
  encodeMulaw(o.agent, sent);
  const played = new Int16Array(sent.length);
  decodeMulaw(sent, played);
  const line = noise(ms, 20);
  const changes = (o.later?.atMs ?? ms) * 8;
  const back = new Float64Array(line.length);
  const comeBack = (echo: Echo | undefined, begin: number, end: number) => {
    if (echo === undefined) return;
    for (const { samples, gain } of echo.taps ?? [{ samples: 0, gain: 1 }]) {
      const delay = echo.delayMs * 8 + samples;
      const share = 10 ** (echo.gainDb / 20) * gain;
      for (let i = Math.max(begin, delay); i < end; i++) back[i]! += share * played[i - delay]!;
    }
  };
  comeBack(o.echo, 0, changes);
  comeBack(o.later?.echo, changes, line.length);
  for (let i = 0; i < line.length; i++) line[i] = line[i]! + back[i]!;
  const gain = 10 ** ((o.callerDb ?? 0) / 20);
  const from = (o.callerAtMs ?? 0) * 8;
  for (let i = 0; i < (o.caller?.length ?? 0) && from + i < line.length; i++)
    line[from + i] = line[from + i]! + gain * o.caller![i]!;
  const coded = new Uint8Array(line.length);
  encodeMulaw(line, coded);
  decodeMulaw(coded, line);
  const result = { loud: 0, explained: 0, callerLoud: 0, callerExplained: 0 };
  let done = 0;
  for (let at = 0; at + 160 <= line.length; at += 160) {
    guard.played(sent.subarray(at, at + 160), at / 8);
    guard.heard(coded.subarray(at, at + 160), at / 8);
    for (; done + WINDOW <= at + 160; done += WINDOW) {
      const levelDb = pcmLevelDb(line.subarray(done, done + WINDOW));
      if (levelDb < -55) continue;
      const explained = guard.explains((done + WINDOW) / 8, levelDb);
      if (done / 8 < (o.fromMs ?? 0) || done / 8 >= (o.toMs ?? ms)) continue;
      result.loud++;
      if (explained) result.explained++;
      if (o.caller === undefined || done < from || done >= from + o.caller.length) continue;
      const own = pcmLevelDb(o.caller.subarray(done - from, done - from + WINDOW)) + (o.callerDb ?? 0);
      if (own < -40) continue;
      result.callerLoud++;
      if (explained) result.callerExplained++;
    }
  }
  return result;
}

const agent = readFixture('jfk-8k');
const caller = readFixture('caller-more-info');

t.test('an echo at -20 to -35 dB, 60 to 250 ms late, is the agent', async (t) => {
  for (const gainDb of [-20, -25, -30, -35])
    for (const delayMs of [60, 120, 250]) {
      const { loud, explained } = listen({ agent, echo: { gainDb, delayMs } });
      t.ok(loud > 50, `${loud} windows to look at`);
      t.ok(explained / loud > 0.97, `${gainDb} dB, ${delayMs} ms: ${explained} of ${loud}`);
    }
});

t.test('a caller is not, over silence, over an echo, and at half the level', async (t) => {
  for (const callerDb of [0, -6, -10])
    for (const echo of [undefined, { gainDb: -20, delayMs: 120 }, { gainDb: -30, delayMs: 200 }]) {
      const o: Line = { agent, caller, callerDb, callerAtMs: 2_000, ...(echo && { echo }) };
      const { callerLoud, callerExplained } = listen(o);
      t.ok(callerLoud > 30);
      t.ok(callerExplained / callerLoud < 0.15, `${callerDb} dB: ${callerExplained} of ${callerLoud} taken`);
    }
});

t.test('nothing is explained when nothing was played, or long after', async (t) => {
  const guard = new EchoGuard();
  t.notOk(guard.near(0));
  t.notOk(guard.explains(500, -20));
  guard.played(new Uint8Array(160).fill(0x10), 1_000);
  t.ok(guard.near(1_500));
  t.notOk(guard.near(1_700));
  t.notOk(guard.explains(1_700, -50));
});

t.test('what was cleared was never played', async (t) => {
  const guard = new EchoGuard();
  const sent = new Uint8Array(agent.length);
  encodeMulaw(agent, sent);
  guard.played(sent.subarray(0, 8 * 1_000), 0);
  guard.cleared(0);
  const quiet = agent.map((sample) => sample / 20);
  const faint = new Uint8Array(quiet.length);
  encodeMulaw(quiet, faint);
  guard.heard(faint.subarray(0, 8 * 1_000), 100);
  t.notOk(guard.explains(900, pcmLevelDb(quiet.subarray(8 * 768, 8 * 800))));
});

t.test('what is said right after a cut is known, whatever the carrier was given ahead of it', async (t) => {
  const sent = new Uint8Array(agent.length);
  encodeMulaw(agent, sent);
  const [cutMs, endMs] = [1_000, 4_000];
  // Another stretch of it from the cut on.
  const next = sent.subarray(8 * 3_000, 8 * (3_000 + endMs - cutMs));
  for (const leadMs of [0, 120, 320])
    for (const delayMs of [60, 250]) {
      const guard = new EchoGuard();
      guard.played(sent.subarray(0, 8 * (cutMs + leadMs)), 0);
      guard.cleared(cutMs);
      const echo = new Int16Array(8 * (endMs - cutMs));
      decodeMulaw(next.subarray(0, echo.length - 8 * delayMs), echo.subarray(8 * delayMs));
      for (let i = 0; i < echo.length; i++) echo[i] = echo[i]! / 10;
      const heard = new Uint8Array(echo.length);
      encodeMulaw(echo, heard);
      let loud = 0;
      let explained = 0;
      for (let at = 0; at + WINDOW <= heard.length; at += WINDOW) {
        const atMs = cutMs + at / 8;
        guard.played(next.subarray(at, at + WINDOW), atMs);
        guard.heard(heard.subarray(at, at + WINDOW), atMs);
        const levelDb = pcmLevelDb(echo.subarray(at, at + WINDOW));
        if (levelDb < -55 || at < 8 * 500) continue;
        loud++;
        if (guard.explains(atMs + WINDOW / 8, levelDb)) explained++;
      }
      t.ok(loud > 30, `${loud} windows to look at`);
      t.ok(explained / loud > 0.97, `${leadMs} ms ahead, ${delayMs} ms late: ${explained} of ${loud}`);
    }
});

t.test('a voice over silence is not explained by what it happens to be like at first', async (t) => {
  for (const callerAtMs of [1_200, 2_000, 2_900, 3_700, 4_600]) {
    const { callerLoud, callerExplained } = listen({ agent, caller, callerDb: -10, callerAtMs });
    t.ok(callerExplained / callerLoud < 0.02, `${callerAtMs} ms: ${callerExplained} of ${callerLoud} taken`);
  }
});

t.test('a weak likeness counts once it has come again at the same delay', async (t) => {
  const hiss = noise(30_000, 4_000);
  const other = noise(30_000, 330).subarray(20_000 * 8, 28_000 * 8);
  const echo = { gainDb: -25, delayMs: 120 };
  const { loud, explained } = listen({ agent: hiss.subarray(0, 8_000 * 8), caller: other, echo });
  t.ok(explained / loud > 0.8, `${explained} of ${loud}`);
});

/** A room at its delay, drawn by a seed. */
function inRoom(seed: number, rt60Ms: number, gainDb: number): Echo {
  const random = seeded(seed);
  const delayMs = Math.round(20 + 230 * random());
  return { gainDb, delayMs, taps: tapsOf({ rt60Ms, directDb: -6 + 12 * random() }, random) };
}

t.test('out of a room the echo is the agent, whatever its walls make of it', async (t) => {
  for (const [seed, rt60Ms] of [200, 400, 600, 800].entries())
    for (const gainDb of [-18, -25, -32]) {
      const echo = inRoom(seed * 10 - gainDb, rt60Ms, gainDb);
      const { loud, explained } = listen({ agent, echo });
      t.ok(loud > 50, `${loud} windows to look at`);
      t.ok(explained / loud > 0.9, `${rt60Ms} ms, ${gainDb} dB: ${explained} of ${loud}`);
    }
});

t.test('a caller in a room is not', async (t) => {
  for (const [seed, rt60Ms] of [200, 400, 600, 800].entries())
    for (const callerDb of [0, -6, -10]) {
      const echo = inRoom(100 + seed * 10 - callerDb, rt60Ms, -27);
      const { callerLoud, callerExplained } = listen({ agent, caller, callerDb, callerAtMs: 2_000, echo });
      t.ok(callerLoud > 30);
      t.ok(
        callerExplained / callerLoud < 0.15,
        `${rt60Ms} ms, ${callerDb} dB: ${callerExplained} of ${callerLoud} taken`,
      );
    }
});

t.test('the tail of a room outlasts the agent', async (t) => {
  let windows = 0;
  let taken = 0;
  for (const stopMs of [2_500, 3_500, 4_500, 5_500, 6_500, 7_500]) {
    const stopped = agent.slice();
    stopped.fill(0, stopMs * 8, (stopMs + 1_500) * 8);
    const echo = { ...inRoom(stopMs, 800, -18), delayMs: 200 };
    const tail = { fromMs: stopMs + 200, toMs: stopMs + 1_500 };
    const { loud, explained } = listen({ agent: stopped, echo, ...tail });
    windows += loud;
    taken += explained;
  }
  t.ok(windows >= 15, `${windows} windows to look at`);
  t.ok(taken / windows > 0.9, `${taken} of ${windows}`);
});

t.test(
  'a line that changes is known again: to a speaker in the room, back to the ear, at another delay',
  async (t) => {
    const speaker = inRoom(3, 400, -20);
    const ear = { gainDb: -30, delayMs: 90 };
    for (const [echo, next] of [
      [ear, speaker],
      [speaker, ear],
      [speaker, { ...speaker, delayMs: speaker.delayMs + 20 }],
      [ear, { ...ear, gainDb: -22 }],
    ] as const) {
      const { loud, explained } = listen({ agent, echo, later: { atMs: 4_000, echo: next }, fromMs: 4_700 });
      t.ok(loud > 30, `${loud} windows to look at`);
      t.ok(explained / loud > 0.8, `${explained} of ${loud}`);
    }
  },
);

t.test('where a loud echo was and is no more, a caller is heard', async (t) => {
  for (const [seed, rt60Ms] of [200, 400, 800].entries()) {
    const { callerLoud, callerExplained } = listen({
      agent,
      caller,
      callerDb: -12,
      callerAtMs: 4_500,
      echo: inRoom(50 + seed, rt60Ms, -16),
      later: { atMs: 4_000 },
    });
    t.ok(callerLoud > 30);
    t.ok(callerExplained / callerLoud < 0.15, `${rt60Ms} ms: ${callerExplained} of ${callerLoud} taken`);
  }
});

t.test('a faint caller is heard over an echo that has only just been found', async (t) => {
  const spoken = caller.subarray(1_060 * 8);
  let loud = 0;
  let taken = 0;
  for (const callerDb of [-10, -14])
    for (const atMs of [700, 850, 1_000, 1_150, 1_300, 1_450]) {
      const { callerLoud, callerExplained } = listen({
        agent: agent.subarray(0, (atMs + 500) * 8),
        caller: spoken,
        callerDb,
        callerAtMs: atMs,
        echo: { gainDb: -22, delayMs: 60 + (atMs % 190) },
      });
      loud += callerLoud;
      taken += callerExplained;
    }
  t.ok(loud > 100, `${loud} windows to look at`);
  t.ok(taken / loud < 0.18, `${taken} of ${loud} taken`);
});

t.test('an agent that lowers its voice is known by what was really played', async (t) => {
  const lowered = agent.map((sample, i) => (i % 24_000 < 12_000 ? sample : sample / 5));
  for (const echo of [{ gainDb: -20, delayMs: 120 }, inRoom(5, 400, -18)]) {
    const { loud, explained } = listen({ agent: lowered, echo });
    t.ok(loud > 50, `${loud} windows to look at`);
    t.ok(explained / loud > 0.9, `${explained} of ${loud}`);
  }
});
