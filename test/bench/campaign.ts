// The whole bench: rounds of each column in turn, the same load on all, at one number of calls and at few and many; then how many
// each of them carries. Measures and keeps; what the figures look like is elsewhere.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, platform, release, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeCertificate } from './certificate.ts';
import { COLUMNS, type ColumnName, type Program } from './columns.ts';
import { holdTo, placeOn, usableCores } from './cores.ts';
import { installed } from './floors/packages.ts';
import { folders, startPeer } from './peer.ts';
import { readUsage, type Usage } from './probe.ts';
import type { CampaignOptions, Climb, Environment, Results } from './results.ts';
import { age, type Figures, type Load, measure, raise } from './round.ts';
import { type Subject, startSubject } from './subject.ts';
import { reasonOf } from './text.ts';

export interface Progress {
  /** Something begins. */
  step(text: string): void;
  /** A round is measured. */
  measured(figures: Figures): void;
}

const ROOT = resolve(import.meta.dirname, '../..');
/** A climb's steps, in calls. */
const STEP = 50;
const MOST_CALLS = 800;
const CLIMB_SECONDS = 6;
/** Fifty new calls have cost as much as they do for seconds of talk, and what they left behind is collected. */
const SETTLE_MS = 5_000;
const IDLE_MS = 500;
/** A step that other work disturbed says nothing of the subject: it is measured again, so often at most. */
const MOST_DISTURBED = 3;
/** Of columns that differ from the first by one thing, and at other numbers of calls. */
const FEWER_ROUNDS = 2;

/** What is measured in each round, in this order. */
interface Stop {
  column: ColumnName;
  calls: number;
  rounds: number;
}

function itinerary(o: CampaignOptions, columns: readonly ColumnName[]): Stop[] {
  const fewer = Math.min(FEWER_ROUNDS, o.rounds);
  const every: readonly ColumnName[] = ['daemon', 'json', 'agents'];
  const scaled = columns.filter((name) => name === 'daemon' || name === 'json');
  return [
    ...columns.map((column) => ({
      column,
      calls: o.calls * (COLUMNS[column].threads ?? 1),
      // Ten minutes of turns take four to make.
      rounds: COLUMNS[column].aged ? 1 : every.includes(column) ? o.rounds : fewer,
    })),
    ...o.scaling
      .filter((calls) => calls !== o.calls)
      .flatMap((calls) => scaled.map((column) => ({ column, calls, rounds: fewer }))),
  ];
}

function environment(): Environment {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  let commit: string | null = null;
  try {
    commit = git('rev-parse', '--short=10', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    // No git, or a tree that is none of its own.
  }
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    commit,
    at: new Date().toISOString(),
    loadBefore: loadavg()[0] ?? Number.NaN,
    loadAfter: Number.NaN,
  };
}

export async function runCampaign(options: CampaignOptions, progress: Progress): Promise<Results> {
  const campaign = new Campaign(options, progress);
  try {
    return await campaign.run();
  } finally {
    campaign.close();
  }
}

class Campaign {
  readonly #o: CampaignOptions;
  readonly #progress: Progress;
  readonly #began = performance.now();
  /** None: nothing is held to cores. */
  readonly #cores: readonly number[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'offhook-bench-model-'));
  readonly #certificate = makeCertificate(this.#folder);
  readonly #packages: Partial<Record<Program, string>> = {};
  readonly #results: Results;
  #load: Load | null = null;

  constructor(o: CampaignOptions, progress: Progress) {
    this.#o = o;
    this.#progress = progress;
    this.#cores = o.pin ? usableCores() : [];
    folders.add(this.#folder);
    this.#results = {
      environment: environment(),
      options: o,
      placement: placeOn(this.#cores, o.threads),
      packages: {},
      rounds: [],
      left: [],
      climbs: {},
      tookSeconds: Number.NaN,
    };
  }

  async run(): Promise<Results> {
    const results = this.#results;
    const columns = await this.#columns();
    const { placement } = results;
    // Webhooks and orders are this process's: they are load as well.
    if (placement !== null) holdTo(process.pid, `${placement.carrier},${placement.model}`);
    const { key, certificate } = this.#certificate;
    this.#load = {
      carrier: await startPeer('test/bench/load/carrier.ts', [], { cores: placement?.carrier ?? null }),
      model: await startPeer('test/bench/load/model.ts', [key, certificate], {
        cores: placement?.model ?? null,
      }),
    };
    const stops = itinerary(this.#o, columns);
    for (let round = 1; round <= this.#o.rounds; round++)
      for (const stop of stops)
        if (stop.rounds >= round && this.#mayBegin()) await this.#measure(stop, round);
    for (const column of columns)
      if (this.#o.climbing.includes(column) && this.#mayBegin())
        results.climbs[column] = await this.#climb(column);
    results.environment.loadAfter = loadavg()[0] ?? Number.NaN;
    results.tookSeconds = this.#seconds();
    return results;
  }

  close(): void {
    this.#load?.carrier.stop();
    this.#load?.model.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  #warmUpMs(calls: number): number {
    return Math.max(this.#o.warmUpSeconds, this.#o.warmUpCallSeconds / calls) * 1000;
  }

  #mayBegin(): boolean {
    return this.#seconds() < this.#o.limitSeconds;
  }

  /** Those that can be measured here: with the packages they need, and a core for each of their threads. */
  async #columns(): Promise<ColumnName[]> {
    const { columns } = this.#o;
    for (const bridge of ['agents', 'framework'] as const) {
      if (!columns.includes(bridge)) continue;
      this.#progress.step(`packages of ${COLUMNS[bridge].title} in a folder of their own`);
      const found = await installed(bridge);
      this.#results.packages[bridge] = 'folder' in found ? { version: found.version } : found;
      if ('folder' in found) this.#packages[bridge] = found.folder;
    }
    return columns.filter((name) => {
      const { program, threads } = COLUMNS[name];
      if (program === 'agents' || program === 'framework') return this.#packages[program] !== undefined;
      return threads === undefined || placeOn(this.#cores, threads) !== null;
    });
  }

  async #measure({ column, calls }: Stop, round: number): Promise<void> {
    const { rounds, seconds, warmUpSeconds, agedTurns } = this.#o;
    this.#progress.step(`round ${round} of ${rounds}: ${COLUMNS[column].title}, ${calls} calls`);
    try {
      await this.#with(column, async (subject, load, idle) => {
        await raise(subject, load, 0, calls);
        await wait(this.#warmUpMs(calls));
        if (COLUMNS[column].aged) {
          this.#progress.step(`${agedTurns} more turns of each call`);
          await age(load, agedTurns);
          await wait(warmUpSeconds * 1000);
        }
        const figures = await measure(subject, load, { round, calls, seconds, idle });
        this.#results.rounds.push(figures);
        this.#progress.measured(figures);
      });
    } catch (error) {
      const why = reasonOf(error);
      this.#results.left.push({ column, calls, why });
      this.#progress.step(`left out: ${why}`);
    }
  }

  /** Steps of 50 calls, each measured once, until the first that is not carried. */
  async #climb(column: ColumnName): Promise<Climb> {
    const climb: Climb = { calls: 0, steps: [], ended: { why: 'ladder' } };
    const { title, threads = 1 } = COLUMNS[column];
    const notCarried = (text: string): Climb => ({ ...climb, ended: { why: 'not carried', text } });
    return this.#with(column, async (subject, load, idle) => {
      let up = 0;
      for (let calls = STEP * threads; calls <= MOST_CALLS; calls += STEP) {
        if (!this.#mayBegin()) return { ...climb, ended: { why: 'time' } };
        this.#progress.step(`how many calls: ${title} at ${calls}`);
        let figures: Figures;
        try {
          await raise(subject, load, up, calls);
          // What has just been started is compiled first.
          if (up === 0) await wait(this.#warmUpMs(calls));
          up = calls;
          figures = await this.#step(calls, subject, load, idle);
        } catch (error) {
          return notCarried(reasonOf(error));
        }
        climb.steps.push(figures);
        if (figures.notCarried !== null)
          return figures.disturbed ? { ...climb, ended: { why: 'load' } } : notCarried(figures.notCarried);
        climb.calls = calls;
      }
      return climb;
    });
  }

  /** One step of a climb: the first measure that nothing disturbed, or that was carried all the same. */
  async #step(calls: number, subject: Subject, load: Load, idle: Usage): Promise<Figures> {
    for (let disturbed = 0; ; disturbed++) {
      await wait(SETTLE_MS);
      const figures = await measure(subject, load, { round: 0, calls, seconds: CLIMB_SECONDS, idle });
      this.#progress.measured(figures);
      if (figures.notCarried === null || !figures.disturbed || disturbed + 1 >= MOST_DISTURBED)
        return figures;
    }
  }

  /** Runs `use` with a subject, and ends it. */
  async #with<T>(
    column: ColumnName,
    use: (subject: Subject, load: Load, idle: Usage) => Promise<T>,
  ): Promise<T> {
    const load = this.#load;
    if (load === null) throw new Error('the load is not there');
    const threads = COLUMNS[column].threads ?? this.#o.threads;
    const { program } = COLUMNS[column];
    const subject = await startSubject(column, {
      ...load,
      authority: this.#certificate.authority,
      cores: placeOn(this.#cores, program === 'daemon' ? threads : 1)?.subject ?? null,
      packages: this.#packages,
      mediaThreads: threads,
      settings: this.#o.settings,
    });
    try {
      await wait(IDLE_MS);
      return await use(subject, load, readUsage(subject.pid));
    } finally {
      await load.carrier.ask({ do: 'close' });
      await subject.stop();
      await load.model.ask({ do: 'close' });
    }
  }
}
