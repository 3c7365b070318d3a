// The campaign of frozen daemons: one stands still (SIGSTOP) with people in talk, another one of the same folder takes its
// calls, and when the first wakes (SIGCONT) it must touch nothing any more, and end.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Lab, Program } from '../lab.ts';
import { until } from '../lab.ts';
import type { Aftermath, Breaker, BreaksReport } from './breaks.ts';
import { lookAtHits } from './hits.ts';

/** By which names the daemons ask the carrier, in turn: so its accounts tell whose command was whose. */
const NAMES = ['127.0.0.1', 'localhost'] as const;
const TAKEN_MS = 60_000;
/** Whoever wakes finds out with its next write, or when it looks. */
const MOST_END_MS = 15_000;
const MOST_SILENCE_MS = 8_000;

interface Woken {
  name: string;
  /** Epoch ms. */
  contMs: number;
  endedMs: number | null;
  exitCode: number | null | undefined;
  /** Lines of talk from before it stood still that were added after it woke. */
  staleLines: number;
  said: string[];
}

/** @param frozenMs how long each stands still */
export function freezer(o: { folder: string; frozenMs: number }): Breaker {
  const databasePath = join(o.folder, 'data', 'offhook.db');
  const woken: Woken[] = [];
  let turn = 0;
  let other: Program | null = null;

  async function start(lab: Lab): Promise<Program> {
    const base = new URL(lab.carrier.url);
    base.hostname = NAMES[++turn % NAMES.length] ?? NAMES[0];
    return lab.startAnother({ TWILIO_BASE_URL: base.origin });
  }

  return {
    listens: false,
    kills: true,
    network: 'typical',
    env: { DATA_DIR_SHARED: 'true' },
    inbound: false,
    async once(lab) {
      other ??= await start(lab);
      const frozen = lab.daemon;
      const name = NAMES[(turn + 1) % NAMES.length] ?? NAMES[0];
      const sids = liveCalls(databasePath, frozen.pid);
      await standStill(databasePath, frozen);
      const atMs = Date.now();
      lab.daemon = other;
      const heir = other.pid;
      await until(
        'its calls to be taken over',
        () => sids.every((id) => ownerOf(databasePath, id) === heir),
        TAKEN_MS,
      );
      const backMs = Date.now();
      await new Promise((later) => setTimeout(later, Math.max(0, o.frozenMs - (backMs - atMs))));
      const before = lastLine(databasePath);
      const lines = frozen.lines.length;
      const contMs = Date.now();
      process.kill(frozen.pid, 'SIGCONT');
      const ended = await Promise.race([
        frozen.ended.then(() => true),
        new Promise<false>((late) => setTimeout(() => late(false), MOST_END_MS)),
      ]);
      woken.push({
        name,
        contMs,
        endedMs: ended ? Date.now() : null,
        exitCode: frozen.exitCode(),
        staleLines: staleLines(databasePath, sids, before, atMs),
        said: frozen.lines.slice(lines),
      });
      if (!ended) await frozen.stop('SIGKILL');
      other = await start(lab);
      return { atMs, backMs };
    },
    look(after) {
      const hits = lookAtHits(after, {
        why: 'daemon_restart',
        mostBackMs: 20_000,
        mostSilenceMs: MOST_SILENCE_MS,
      });
      const own = lookAtWoken(after, woken);
      return { rows: [...hits.rows, ...own.rows], checks: [...hits.checks, ...own.checks] };
    },
  };
}

function lookAtWoken({ talks }: Aftermath, woken: readonly Woken[]): Pick<BreaksReport, 'rows' | 'checks'> {
  const commands = woken.flatMap(({ name, contMs, endedMs }) =>
    talks.flatMap(({ report }) =>
      report.updates.flatMap(({ atMs, asked, host }) => {
        const at = Date.parse(report.createdAt) + atMs;
        return host === name && at >= contMs && at <= (endedMs ?? Number.POSITIVE_INFINITY)
          ? [`${report.sid}: ${asked}, ${at - contMs} ms after it woke`]
          : [];
      }),
    ),
  );
  const stale = woken.filter(({ staleLines }) => staleLines > 0);
  const left = woken.filter(({ endedMs, exitCode }) => endedMs === null || exitCode === null);
  return {
    rows: [
      [
        'woken, and ended by itself after',
        woken
          .map(({ contMs, endedMs }) => (endedMs === null ? 'never' : `${endedMs - contMs} ms`))
          .join(', '),
      ],
    ],
    checks: [
      { name: 'carrier commands of the woken', value: commands.length, violations: commands },
      {
        name: 'rows of the woken',
        value: woken.reduce((sum, { staleLines }) => sum + staleLines, 0),
        violations: stale.map(({ staleLines }) => `${staleLines} lines of talk from before it stood still`),
      },
      {
        name: 'the woken ended by themselves',
        value: `${woken.length - left.length} of ${woken.length}`,
        violations: left.map(({ said }) => `it went on; its last lines: ${said.slice(-3).join(' ')}`),
      },
    ],
  };
}

function read<T>(databasePath: string, look: (db: Database.Database) => T): T {
  const db = new Database(databasePath, { readonly: true });
  try {
    return look(db);
  } finally {
    db.close();
  }
}

/** Ids of the calls in talk that a process owns. */
function liveCalls(databasePath: string, pid: number): string[] {
  return read(databasePath, (db) =>
    (
      db
        .prepare(
          `SELECT calls.id FROM calls JOIN daemons ON daemons.epoch = calls.owner
           WHERE daemons.pid = ? AND calls.status = 'in_progress'`,
        )
        .all(pid) as { id: string }[]
    ).map(({ id }) => id),
  );
}

/** The process that owns a call; null: it is over, or nobody does. */
function ownerOf(databasePath: string, id: string): number | null {
  return read(databasePath, (db) => {
    const row = db
      .prepare('SELECT pid FROM calls JOIN daemons ON daemons.epoch = calls.owner WHERE calls.id = ?')
      .get(id) as { pid: number } | undefined;
    return row?.pid ?? null;
  });
}

/** Stops it, but not in the middle of a write: SQLite lets nobody else write then. */
async function standStill(databasePath: string, program: Program): Promise<void> {
  await until('it to stand still outside of a write', () => {
    process.kill(program.pid, 'SIGSTOP');
    const db = new Database(databasePath, { timeout: 300 });
    try {
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      return true;
    } catch {
      process.kill(program.pid, 'SIGCONT');
      return false;
    } finally {
      db.close();
    }
  });
}

const lastLine = (databasePath: string) =>
  read(databasePath, (db) => Number(db.prepare('SELECT max(seq) FROM transcript_items').pluck().get() ?? 0));

/** Lines of these calls that were added after `seq` and were spoken before `atMs`. */
function staleLines(databasePath: string, ids: readonly string[], seq: number, atMs: number): number {
  return read(databasePath, (db) => {
    const look = db.prepare(
      'SELECT count(*) FROM transcript_items WHERE call_id = ? AND seq > ? AND started_at < ?',
    );
    const at = new Date(atMs - 1_000).toISOString();
    return ids.reduce((sum, id) => sum + Number(look.pluck().get(id, seq, at)), 0);
  });
}
