// A campaign of breaks under people in talk: opens the lab with them, has what carries them broken again and again, lets
// all come to its end, and looks. How it is broken is kills.ts and its like; whether a talk went on is going-on.ts.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { SimulatorOptions } from '../carrier-simulator/options.ts';
import { createRandom, type Random } from '../carrier-simulator/random.ts';
import type { CallReport } from '../carrier-simulator/report.ts';
import { type Lab, openLab, until } from '../lab.ts';
import type { ModelSession } from '../simulate/evidence.ts';
import { copyDatabase, fund, settle } from './campaign.ts';
import type { Break, Talk } from './going-on.ts';
import { type Check, judge } from './judge.ts';
import type { HeardLine } from './lost-streams.ts';
import { openFlappingReceiver } from './receiver.ts';
import { startTalks, type Talks } from './talks.ts';

export interface BreaksOptions {
  /** How often what carries the talks is broken. */
  times: number;
  /** People at once. */
  lines: number;
  seed: number;
  /** No more breaks after this. */
  minutes: number;
  folder: string;
  /** How long most talks are carried before the next break, in ms: at least and at most. */
  betweenMs?: readonly [number, number];
  /** For a test: one media thread. */
  short?: boolean;
  onProgress?: (line: string) => void;
}

export interface BreaksReport {
  seed: number;
  breaks: number;
  /** Figures, by what they are of. */
  rows: [name: string, value: string][];
  checks: Check[];
}

/** What is known when all is over. */
export interface Aftermath {
  breaks: readonly Break[];
  talks: readonly Talk[];
  people: Talks;
  /** The daemon's own account of a call, by the carrier's name for it. */
  rows: ReadonlyMap<string, CallRow>;
  /** The model's own accounts; empty where nobody listens. */
  sessions: readonly ModelSession[];
  /** What the daemon's last life counted, as Prometheus reads it. */
  metrics: string;
  /** Lines of the daemon's log at level error. */
  logErrors: readonly string[];
}

export interface CallRow {
  id: string;
  status: string;
  hangup_cause: string | null;
  error_code: string | null;
  gaps: { why: string; to_ms: number | null }[];
}

export interface Breaker {
  /** Whether the sound of all sides is kept, to be looked at. */
  listens: boolean;
  /** Whether the daemon dies of it. */
  kills: boolean;
  network: NonNullable<SimulatorOptions['network']>;
  /** More settings for the daemons. */
  env?: Record<string, string>;
  /** How often somebody asks for something, at least and at most; default: for minutes. */
  exchanges?: readonly [number, number];
  /** Whether people also call in (default: they do). */
  inbound?: boolean;
  /** Breaks what carries the talks, and sees to it that somebody takes them up. */
  once(lab: Lab, random: Random): Promise<Break>;
  /** When all calls are over. */
  finish?(): Promise<void>;
  /** What is to be told of it, and what has to hold. */
  look(after: Aftermath): Pick<BreaksReport, 'rows' | 'checks'>;
}

/** A person does not lose the line every few seconds; a call that does is given up (call-resume.ts). */
const BETWEEN_MS = [10_500, 14_000] as const;
/** Of the lines, so many in talk make a break worth while. */
const ENOUGH = 0.8;
const WAIT_MS = 60_000;
const LAST_TALK_MS = 6_000;
const PATIENCE_MS = 60_000;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Runs a whole campaign and closes everything it opened. */
export async function runBreaks(o: BreaksOptions, breaker: Breaker): Promise<BreaksReport> {
  const began = performance.now();
  mkdirSync(o.folder, { recursive: true });
  const receiver = await openFlappingReceiver(createRandom(o.seed, 1));
  // Whether deliveries survive a receiver that fails is the campaign of kills' own question (campaign.ts).
  receiver.calmDown();
  const logFile = join(o.folder, 'daemon.log');
  let lab: Lab | null = null;
  try {
    lab = await openLab({
      folder: o.folder,
      scenario: join(import.meta.dirname, 'talk.json'),
      carrier: { seed: o.seed, network: breaker.network },
      simulatorFiles: breaker.listens,
      env: {
        REDIS_MODE: 'none',
        RECORD_CALLS: 'true',
        RATE_LIMIT_PER_SECOND: '2000',
        RATE_LIMIT_BURST: '4000',
        MAX_CONCURRENT_CALLS: String(o.lines * 3),
        PRICE_PER_MINUTE_MILLI_CENTS: '6000',
        RESERVE_MINUTES: '1',
        ...(o.short === true ? { MEDIA_THREADS: '1' } : {}),
        ...breaker.env,
      },
      onDaemonLine(line) {
        appendFileSync(logFile, `${JSON.stringify(line)}\n`);
      },
    });
    return await campaign(lab, { ...o, breaker, receiver, began });
  } finally {
    await lab?.close();
    await receiver.close();
  }
}

type Parts = BreaksOptions & {
  breaker: Breaker;
  receiver: Awaited<ReturnType<typeof openFlappingReceiver>>;
  began: number;
};

async function campaign(lab: Lab, o: Parts): Promise<BreaksReport> {
  const { receiver } = o;
  const databasePath = join(o.folder, 'data', 'offhook.db');
  const endpoint = await lab.api<{ id: string }>('POST', '/v1/webhook_endpoints', {
    url: receiver.url('/endpoint'),
  });
  if (endpoint.status !== 201) throw new Error(`no endpoint: ${JSON.stringify(endpoint.body)}`);
  await lab.daemon.stop('SIGINT');
  fund(databasePath);
  await lab.restartDaemon();
  const people = await startTalks({
    lab,
    random: createRandom(o.seed, 2),
    lines: o.lines,
    inbound: o.breaker.inbound !== false,
    ...(o.breaker.exchanges === undefined ? {} : { exchanges: o.breaker.exchanges }),
    webhookUrl: receiver.url('/inline'),
    patienceMs: PATIENCE_MS,
  });
  const complaints: string[] = [];
  try {
    const { breaks, deathsMs } = await breakAll(lab, people, o, complaints);
    await people.finish();
    await o.breaker.finish?.();
    await settle(lab, endpoint.body.id, complaints);
    const reports = await carrierCalls(lab);
    writeFileSync(join(o.folder, 'carrier-calls.json'), JSON.stringify(reports));
    const rows = callRows(databasePath);
    const talks = await Promise.all(
      reports.map(async (report): Promise<Talk> => {
        const id = rows.get(report.sid)?.id;
        return { report, transcript: id === undefined ? null : await transcriptOf(lab, id) };
      }),
    );
    const { data: sessions } = o.breaker.listens
      ? await lab.ask<{ data: ModelSession[] }>('model', '/sessions')
      : { data: [] };
    const metrics = (await lab.api<string>('GET', '/metrics')).body;
    const code = await lab.daemon.stop('SIGTERM');
    if (code !== 0) complaints.push(`the daemon ended with exit code ${code} on SIGTERM`);
    const copy = join(o.folder, 'judged.db');
    copyDatabase(databasePath, copy);
    const always = judge({
      databasePath: copy,
      ledger: receiver.ledger,
      paths: ['/inline', '/endpoint'],
      carrierCalls: reports,
      dispatched: people.dispatched,
      complaints: [...people.complaints, ...receiver.complaints, ...complaints],
      deathsMs,
    });
    const logErrors = lab.daemon.lines.filter((line) => line.includes('"level":"error"'));
    const own = o.breaker.look({ breaks, talks, people, rows, sessions, metrics, logErrors });
    const tools = people.toolsTwice(reports);
    const { taken, refused } = people.begun();
    const asRefused = Object.entries(refused).map(([why, count]) => `${why} ${count}`);
    return {
      seed: o.seed,
      breaks: breaks.length,
      rows: [
        ['took', `${Math.round((performance.now() - o.began) / 1000)} s`],
        ...own.rows,
        [
          'new calls taken over /v1',
          `${taken}${asRefused.length === 0 ? '' : `; asked again after: ${asRefused.join(', ')}`}`,
        ],
      ],
      checks: [
        ...own.checks,
        {
          name: 'tools run twice',
          value: `${tools.violations.length} of ${tools.runs}`,
          violations: tools.violations,
        },
        ...always,
      ],
    };
  } finally {
    await people.close();
  }
}

async function breakAll(
  lab: Lab,
  people: Talks,
  o: Parts,
  complaints: string[],
): Promise<{ breaks: Break[]; deathsMs: number[] }> {
  const random = createRandom(o.seed, 3);
  const breaks: Break[] = [];
  const deathsMs: number[] = [];
  const endMs = o.began + o.minutes * 60_000;
  while (breaks.length < o.times && performance.now() < endMs) {
    const enough = Math.max(1, Math.floor(o.lines * ENOUGH));
    const betweenMs = random.between(o.betweenMs ?? BETWEEN_MS);
    await until('people to be in talk', () => people.inTalk(betweenMs) >= enough, WAIT_MS).catch(() =>
      complaints.push(`break ${breaks.length + 1} found ${people.inTalk(0)} of ${o.lines} lines in talk`),
    );
    if (o.breaker.kills) deathsMs.push(performance.now());
    const one = await o.breaker.once(lab, random);
    breaks.push(one);
    o.onProgress?.(
      `${breaks.length}/${o.times}: ${o.breaker.kills ? `taken up again after ${Math.round(one.backMs - one.atMs)} ms, ` : ''}${people.dispatched.length} calls placed`,
    );
  }
  await pause(LAST_TALK_MS);
  return { breaks, deathsMs };
}

/** The carrier's accounts, once it has no live call. */
async function carrierCalls(lab: Lab): Promise<CallReport[]> {
  const ask = async () => (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
  return until(
    'the carrier to have no live call',
    async () => {
      const calls = await ask();
      return calls.every((call) => call.endedAtMs !== null) ? calls : null;
    },
    WAIT_MS,
  ).catch(ask);
}

function callRows(databasePath: string): Map<string, CallRow> {
  const db = new Database(databasePath, { readonly: true });
  try {
    const rows = db
      .prepare('SELECT id, carrier_call_id, status, hangup_cause, error_code, gaps FROM calls')
      .all() as (Omit<CallRow, 'gaps'> & { carrier_call_id: string | null; gaps: string })[];
    return new Map(
      rows.flatMap(({ carrier_call_id, gaps, ...row }) =>
        carrier_call_id === null
          ? []
          : [[carrier_call_id, { ...row, gaps: JSON.parse(gaps) as CallRow['gaps'] }]],
      ),
    );
  } finally {
    db.close();
  }
}

async function transcriptOf(lab: Lab, id: string): Promise<HeardLine[]> {
  const { body } = await lab.api<{ data?: HeardLine[] }>('GET', `/v1/calls/${id}/transcript`);
  return body.data ?? [];
}
