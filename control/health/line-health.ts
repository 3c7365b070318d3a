// How well the line stands, part by part, in words for people. Carrier and model are asked at most once a minute, and only
// while somebody looks.
import type { Carrier } from '../../bridge/carriers/carrier.ts';
import { AppError } from '../../errors.ts';
import type { EndedCall, Store } from '../../storage/store.ts';

type HealthState = 'ok' | 'warn' | 'down';
export interface PartHealth {
  state: HealthState;
  text: string;
  [number: string]: unknown;
}

/** Of the newest calls to have ended, so many say how calls go now. */
const LATELY = 20;
/** What is older says nothing of now. */
const LATELY_MS = 24 * 3_600_000;
/** Fewer failures than this may be chance. */
const FEW_FAILURES = 3;
/** So many in a row that went well: what was wrong is over. */
const WELL_AGAIN = 5;

/** Whether calls go well, whatever their parts say of themselves. `last`: those that ended lately, the last first. */
export function callsHealth(last: readonly Pick<EndedCall, 'failed' | 'reason'>[]): PartHealth {
  const ended = last.length;
  const failures = last.filter((call) => call.failed);
  const failed = failures.length;
  const numbers = { ended, failed };
  if (ended === 0) return { state: 'ok', text: 'No call has ended in the last 24 hours.', ...numbers };
  if (failed === 0) {
    const text = ended === 1 ? 'The last call did not fail.' : `None of the last ${ended} calls failed.`;
    return { state: 'ok', text, ...numbers };
  }
  const reasons = [...Map.groupBy(failures, ({ reason }) => reason ?? 'unknown')];
  const [most = ['unknown', []]] = reasons.sort((a, b) => b[1].length - a[1].length);
  const many = most[1].length === failed ? 'all' : most[1].length;
  const of = ended === 1 ? 'The last call' : `${failed} of the last ${ended} calls`;
  const by = failed === 1 ? `by ${most[0]}` : `${many} of them by ${most[0]}`;
  const wentWell = last.findIndex((call) => call.failed);
  if (wentWell >= WELL_AGAIN)
    return { state: 'ok', text: `${of} failed, ${by}; the ${wentWell} since did not.`, ...numbers };
  const half = failed / ended >= 0.5;
  const state = failed >= FEW_FAILURES ? (half ? 'down' : 'warn') : half ? 'warn' : 'ok';
  return { state, text: `${of} failed, ${by}.`, ...numbers };
}

/** What is asked of the parts; the daemon fills it in. */
export interface HealthSources {
  /** Those that can be asked are asked. */
  carriers: readonly Pick<Carrier, 'name' | 'check'>[];
  /** All that agents may have: each by its name, what it is asked, and where its settings are looked at. */
  models: readonly {
    name: string;
    probe: { url: string; headers: Record<string, string> };
    settings: Readonly<Record<'url' | 'apiKey' | 'model', string>>;
  }[];
  queue(): Promise<{
    mode: 'redis' | 'child' | 'direct';
    /** Redis was asked for, or found, and is not there now. */
    degraded: boolean;
    pending: number;
    overdueSeconds: number;
  }>;
  /** `damage`: what the check of the database found wrong. */
  disk(): { free_mb: number | null; low: boolean; damage?: string | null };
  warnMb: number;
  threads(): {
    ready: boolean;
    /** How many run late by the rules that admit calls: they take none. */
    late: number;
    loads: readonly { calls: number; loopDelayP99Ms: number }[];
  };
  store: Pick<Store, 'lastEnded'>;
  now(): Date;
  monotonicMs(): number;
}

type Parts = Record<'carrier' | 'model' | 'queue' | 'disk' | 'threads', PartHealth>;

export interface LineHealth {
  /** What every organization's calls stand on. */
  parts(): Promise<Parts>;
  /** The same, with how an organization's calls went lately. */
  of(orgId: string): Promise<Record<'calls', PartHealth> & Parts>;
  /** One part alone; no other is asked. */
  carrier(): Promise<PartHealth>;
  model(): Promise<PartHealth>;
}

const FRESH_MS = 60_000;
/** What went wrong is asked again sooner. */
const FRESH_FAILURE_MS = 10_000;
const ASK_TIMEOUT_MS = 5_000;
/** A delivery later than this past its time means that the queue does not keep up. */
const OVERDUE_SECONDS = 60;

/** Remembers an answer for a minute, and asks once for all who want it meanwhile. */
function remembered(
  ask: () => Promise<PartHealth>,
  { now, monotonicMs }: Pick<HealthSources, 'now' | 'monotonicMs'>,
): () => Promise<PartHealth> {
  let last: { at: number; health: PartHealth } | null = null;
  let asking: Promise<PartHealth> | null = null;
  return async () => {
    const freshMs = last?.health.state === 'ok' ? FRESH_MS : FRESH_FAILURE_MS;
    if (last !== null && monotonicMs() - last.at < freshMs) return last.health;
    asking ??= ask().finally(() => {
      asking = null;
    });
    const health = await asking;
    last = { at: monotonicMs(), health: { ...health, checked_at: now().toISOString() } };
    return last.health;
  };
}

async function carrierHealth(name: string, check: () => Promise<void>): Promise<PartHealth> {
  const begun = performance.now();
  try {
    let late: NodeJS.Timeout | undefined;
    const asked = check();
    // Its client asks again and again by itself; whoever looks does not wait for that.
    const patience = new Promise<never>((_, reject) => {
      late = setTimeout(
        () => reject(new AppError('carrier_error', `No answer within ${ASK_TIMEOUT_MS / 1000} s.`)),
        ASK_TIMEOUT_MS,
      );
    });
    asked.catch(() => {});
    await Promise.race([asked, patience]).finally(() => clearTimeout(late));
    const latency_ms = Math.round(performance.now() - begun);
    return { state: 'ok', text: `${name} answers and takes the credentials.`, latency_ms };
  } catch (error) {
    const code = error instanceof AppError ? (error.carrierCode ?? null) : null;
    const why = error instanceof AppError ? error.message : 'It could not be asked.';
    return {
      state: 'down',
      text: `${name} refuses or cannot be reached: ${why} No call can be placed until that is mended.`,
      code,
    };
  }
}

/** As the one that does worst. */
async function carriersHealth(carriers: HealthSources['carriers']): Promise<PartHealth> {
  const asked = carriers.flatMap(({ name, check }) => (check === null ? [] : [carrierHealth(name, check)]));
  const answers = await Promise.all(asked);
  const worst = answers.find(({ state }) => state === 'down') ?? answers[0];
  return worst ?? { state: 'warn', text: 'There is no carrier of phone calls.' };
}

async function modelHealth({ name, probe, settings }: HealthSources['models'][number]): Promise<PartHealth> {
  const begun = performance.now();
  let status: number;
  try {
    const answer = await fetch(probe.url, {
      headers: probe.headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    });
    status = answer.status;
    await answer.body?.cancel();
  } catch {
    return {
      state: 'down',
      text: `The model cannot be reached: calls would be answered by silence. Look at ${settings.url} and the network.`,
      model: name,
    };
  }
  const latency_ms = Math.round(performance.now() - begun);
  const told = { model: name, status, latency_ms };
  if (status === 200) return { state: 'ok', text: `${name} can be used.`, ...told };
  if (status === 401 || status === 403)
    return { state: 'down', text: `The model refuses the key: look at ${settings.apiKey}.`, ...told };
  if (status === 404)
    return {
      state: 'down',
      text: `There is no ${name} for this key: look at ${settings.model} and what the account may use.`,
      ...told,
    };
  if (status === 429)
    return { state: 'warn', text: 'The model answers that there were too many requests.', ...told };
  return { state: 'warn', text: `The model's server answers ${status}.`, ...told };
}

/** As the one that does worst, which is named where there are several. */
async function modelsHealth(models: HealthSources['models']): Promise<PartHealth> {
  const answers = await Promise.all(
    models.map(async (model) => ({ name: model.name, health: await modelHealth(model) })),
  );
  const worst =
    answers.find(({ health }) => health.state === 'down') ??
    answers.find(({ health }) => health.state === 'warn');
  const [first] = answers;
  if (first === undefined) return { state: 'warn', text: 'There is no speech model.' };
  if (answers.length === 1) return first.health;
  if (worst !== undefined) return { ...worst.health, text: `${worst.name}: ${worst.health.text}` };
  return { ...first.health, text: `${answers.map(({ name }) => name).join(', ')} can be used.` };
}

async function queueHealth(o: HealthSources): Promise<PartHealth> {
  const { mode, degraded, pending, overdueSeconds } = await o.queue();
  const numbers = { mode, pending, overdue_seconds: Math.round(overdueSeconds) };
  if (overdueSeconds > OVERDUE_SECONDS) {
    return {
      state: 'warn',
      text: `Webhooks are late: ${pending} wait, the first for ${Math.round(overdueSeconds)} s longer than it should.`,
      ...numbers,
    };
  }
  const waiting = pending === 0 ? 'nothing waits' : `${pending} wait for their time`;
  if (degraded)
    return { state: 'warn', text: `Redis is away; webhooks go out directly, ${waiting}.`, ...numbers };
  const by = { redis: 'by Redis', child: "by the daemon's own Redis", direct: 'directly' }[mode];
  return { state: 'ok', text: `Webhooks go out ${by}; ${waiting}.`, ...numbers };
}

function diskHealth({ disk, warnMb }: HealthSources): PartHealth {
  const { free_mb, low, damage } = disk();
  if (damage) {
    return {
      state: 'down',
      text: 'The database is damaged: put a backup in its place before more is lost. The log says what was found.',
      free_mb,
    };
  }
  if (free_mb === null) return { state: 'warn', text: 'The free space is not known.', free_mb };
  const free = free_mb >= 2048 ? `${Math.floor(free_mb / 1024)} GB` : `${Math.floor(free_mb)} MB`;
  if (low)
    return {
      state: 'down',
      text: `Only ${free} free: no new calls are taken until there is room.`,
      free_mb,
    };
  if (free_mb < warnMb) return { state: 'warn', text: `Only ${free} free; make room soon.`, free_mb };
  return { state: 'ok', text: `${free} free.`, free_mb };
}

function threadsHealth({ threads }: HealthSources): PartHealth {
  const { ready, late, loads } = threads();
  const calls = loads.reduce((sum, load) => sum + load.calls, 0);
  const loop_delay_p99_ms = Math.round(Math.max(0, ...loads.map((load) => load.loopDelayP99Ms)) * 10) / 10;
  const numbers = { threads: loads.length, late_threads: late, calls, loop_delay_p99_ms };
  if (!ready) return { state: 'down', text: 'No media thread runs: no call can be carried.', ...numbers };
  const carried = `${calls} ${calls === 1 ? 'call' : 'calls'} on ${loads.length} ${loads.length === 1 ? 'thread' : 'threads'}`;
  // One late moment is the host's: threads that carry nothing have it too. What lasts is told.
  if (late > 0) {
    const which =
      late >= loads.length
        ? 'and no new call is taken'
        : `and ${late} of them ${late === 1 ? 'takes' : 'take'} no new call`;
    return {
      state: 'warn',
      text: `${carried}, up to ${loop_delay_p99_ms} ms late, ${which}: this host is near what it can carry.`,
      ...numbers,
    };
  }
  return { state: 'ok', text: `${carried}, on time.`, ...numbers };
}

/** Asks nobody until it is read. */
export function openHealth(o: HealthSources): LineHealth {
  const carrier = remembered(() => carriersHealth(o.carriers), o);
  const model = remembered(() => modelsHealth(o.models), o);
  async function parts(): Promise<Parts> {
    const [ofCarrier, ofModel, ofQueue] = await Promise.all([carrier(), model(), queueHealth(o)]);
    return {
      carrier: ofCarrier,
      model: ofModel,
      queue: ofQueue,
      disk: diskHealth(o),
      threads: threadsHealth(o),
    };
  }
  async function calls(orgId: string): Promise<PartHealth> {
    const since = new Date(o.now().getTime() - LATELY_MS).toISOString();
    return callsHealth((await o.store.lastEnded(orgId, LATELY)).filter(({ ended_at }) => ended_at >= since));
  }
  return {
    carrier,
    model,
    parts,
    async of(orgId) {
      const [ofCalls, others] = await Promise.all([calls(orgId), parts()]);
      return { calls: ofCalls, ...others };
    },
  };
}
