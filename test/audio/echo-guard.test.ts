// The agent's own voice coming back, at the levels and delays of telephone lines, and a caller over it.
import t from 'tap';
import { EchoGuard } from '../../audio/echo-guard.ts';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { pcmLevelDb } from '../../audio/levels.ts';
import { noise, readFixture } from './fixtures.ts';

const WINDOW = 256;

interface Line {
  agent: Int16Array;
  /** What the caller's side sends beside the echo. */
  caller?: Int16Array;
  callerDb?: number;
  /** Where the caller begins. */
  callerAtMs?: number;
  echo?: { gainDb: number; delayMs: number };
}

/** Windows louder than the line's noise, and how many of them the guard explains. */
function listen(o: Line, guard = new EchoGuard()) {
  const ms = Math.floor(o.agent.length / 8);
  const sent = new Uint8Array(o.agent.length);
  encodeMulaw(o.agent, sent);
  const played = new Int16Array(sent.length);
  decodeMulaw(sent, played);
  const line = noise(ms, 20);
  const echo = o.echo === undefined ? 0 : 10 ** (o.echo.gainDb / 20);
  const delay = (o.echo?.delayMs ?? 0) * 8;
  for (let i = delay; i < line.length; i++) line[i] = line[i]! + echo * played[i - delay]!;
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
