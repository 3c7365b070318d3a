// A soak: hours of calls of mixed lengths that come and go on a daemon, with what it holds and how it keeps time read all
// along. Carrier, model and daemon are processes of their own; the daemon is known by /v1, /metrics and its log.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../carrier-simulator/random.ts';
import { type Lab, openLab } from '../lab.ts';
import { openOrderServer } from '../simulate/order-server.ts';
import { type Callers, startCallers } from './callers.ts';
import { drawSoak } from './picture.ts';
import { joinReadings, type Reading, readMetrics, type Sample, toCsv } from './samples.ts';
import { type Check, judgeCalls, judgeMemory, judgeTime } from './verdict.ts';

export interface SoakOptions {
  minutes: number;
  /** Calls at once. */
  lines: number;
  /** Of the start, that count for neither half. */
  settleMinutes: number;
  /** No call is meant to last longer. */
  longestSeconds: number;
  sampleSeconds: number;
  seed: number;
  /** For data and logs. */
  folder: string;
  /** For soak.csv, soak.svg, verdict.json. */
  out: string;
  /** More settings of the daemon. */
  env?: Record<string, string>;
  onSample?: (sample: Sample, calls: number) => void;
}

export interface SoakReport {
  seed: number;
  minutes: number;
  lines: number;
  ends: Record<string, number>;
  /** How often the daemon said it, of its warnings and errors. */
  warnings: Record<string, number>;
  checks: Check[];
  samples: Sample[];
}

const READ_MS = 1_000;
/** For the last sample, when the time is over. */
const LAST_WORD_MS = 60_000;
const SCENARIOS = ['order-line', 'default'];

/** The resident set's part that belongs to no file, where /proc tells it. */
function anonymousBytes(pid: number): number {
  try {
    const [, kb] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kb === undefined ? Number.NaN : Number(kb) * 1024;
  } catch {
    return Number.NaN;
  }
}

async function openAgents(lab: Lab, ordersUrl: string) {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await lab.api<T>(method, path, body);
    if (answer.status >= 400)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const make = async (fields: Record<string, unknown>) => {
    const { data } = await ask<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=1');
    const number = await ask<{ id: string; e164: string }>('POST', '/v1/numbers/purchase', {
      e164: data[0]?.e164,
    });
    const agent = await ask<{ id: string }>('POST', '/v1/agents', {
      number_ids: [number.id],
      webhook_url: lab.receiverUrl,
      ...fields,
    });
    return { id: agent.id, number: number.e164 };
  };
  const office = { instructions: 'Find out what the other side wants.', returns: { summary: 'string' } };
  const shop = {
    instructions: 'Ask for the order, look it up with lookup_order, and tell the caller where it is.',
    returns: { status: 'string' },
    tools: [
      {
        type: 'http',
        name: 'lookup_order',
        description: 'Finds an order by its number.',
        parameters: {
          type: 'object',
          properties: { order_number: { type: 'string' } },
          required: ['order_number'],
          additionalProperties: false,
        },
        url: ordersUrl,
        method: 'POST',
        timeout_ms: 5_000,
      },
    ],
  };
  const outbound = [
    await make({ name: 'Reminder', type: 'outbound', ...office }),
    await make({ name: 'Shop calls', type: 'outbound', ...shop }),
  ];
  const inbound = [
    await make({ name: 'Front desk', type: 'inbound', ...office }),
    await make({ name: 'Order line', type: 'inbound', ...shop }),
  ];
  return { outbound: outbound.map(({ id }) => id), inbound: inbound.map(({ number }) => number) };
}

/** Runs a whole soak, writes its files, closes everything it opened. */
export async function runSoak(o: SoakOptions): Promise<SoakReport> {
  mkdirSync(o.folder, { recursive: true });
  mkdirSync(o.out, { recursive: true });
  const warnings: Record<string, number> = {};
  const logFile = join(o.folder, 'daemon.log');
  const orders = await openOrderServer({
    order_number: '1042',
    status: 'shipped',
    delivery_date: 'Thursday',
  });
  let callers: Callers | null = null;
  let lab: Lab | null = null;
  try {
    lab = await openLab({
      folder: o.folder,
      scenario: SCENARIOS.map((name) =>
        join(import.meta.dirname, `../model-simulator/scenarios/${name}.json`),
      ),
      carrier: { seed: o.seed },
      simulatorFiles: false,
      env: {
        RECORD_CALLS: 'true',
        PRICE_PER_MINUTE_MILLI_CENTS: '6000',
        RATE_LIMIT_PER_SECOND: '10000',
        RATE_LIMIT_BURST: '10000',
        MAX_CONCURRENT_CALLS: String(o.lines + 10),
        ...o.env,
      },
      onReceived: (received) => callers?.told(received),
      onDaemonLine(line) {
        callers?.logged(line);
        if (line.level !== 'warn' && line.level !== 'error') return;
        appendFileSync(logFile, `${JSON.stringify(line)}\n`);
        warnings[String(line.event)] = (warnings[String(line.event)] ?? 0) + 1;
      },
    });
    const { outbound, inbound } = await openAgents(lab, orders.url);
    callers = startCallers({
      lab,
      random: createRandom(o.seed),
      lines: o.lines,
      dataDir: join(o.folder, 'data'),
      outboundAgents: outbound,
      inboundNumbers: inbound,
      longestSeconds: o.longestSeconds,
    });
    const { samples, readings } = await watch(lab, callers, o, () => orders.requests.splice(0));
    await callers.finish();
    const left = await settled(lab);
    const report: SoakReport = {
      seed: o.seed,
      minutes: o.minutes,
      lines: o.lines,
      ends: callers.account.ends,
      warnings,
      checks: [
        ...judgeCalls(callers.account, left),
        ...judgeTime(readings),
        ...judgeMemory(samples, o.settleMinutes * 60),
      ],
      samples,
    };
    write(o, report);
    return report;
  } finally {
    await lab?.close();
    await orders.close();
  }
}

const read = async (lab: Lab): Promise<Reading> =>
  readMetrics((await lab.api<string>('GET', '/metrics')).body);

/** Reads each second and keeps a sample of several, until the time is over. */
async function watch(
  lab: Lab,
  callers: Callers,
  o: SoakOptions,
  tidy: () => void,
): Promise<{ samples: Sample[]; readings: Reading[] }> {
  const samples: Sample[] = [];
  const readings: Reading[] = [];
  const began = performance.now();
  let since: Reading[] = [];
  let nextSampleMs = o.sampleSeconds * 1000;
  for (;;) {
    await new Promise((next) => setTimeout(next, READ_MS));
    if (lab.daemon.exitCode() !== undefined)
      throw new Error(
        `the daemon ended (${lab.daemon.exitCode()}):\n${lab.daemon.lines.slice(-20).join('\n')}`,
      );
    // A connection that is closed just as it is asked again: the next second has its reading.
    const reading = await read(lab).catch(() => null);
    if (reading !== null) {
      readings.push(reading);
      since.push(reading);
    }
    const passedMs = performance.now() - began;
    if (passedMs > o.minutes * 60_000 + LAST_WORD_MS) throw new Error('the daemon does not answer any more');
    if (passedMs < nextSampleMs || since.length === 0) continue;
    nextSampleMs += o.sampleSeconds * 1000;
    const sample = joinReadings(since, {
      seconds: Math.round(passedMs / 1000),
      callsEnded: callers.account.calls,
      anonymousBytes: anonymousBytes(lab.daemon.pid),
    });
    since = [];
    samples.push(sample);
    // What is left behind when the run is broken off.
    writeFileSync(join(o.out, 'soak.csv'), toCsv(samples));
    o.onSample?.(sample, callers.account.calls);
    // Hours of lines and webhooks are nobody's memory but this program's.
    lab.daemon.lines.splice(0, Math.max(0, lab.daemon.lines.length - 200));
    lab.received.splice(0);
    tidy();
    if (passedMs >= o.minutes * 60_000) return { samples, readings };
  }
}

/** What is still held when everybody has hung up, once it changes no more. */
async function settled(lab: Lab): Promise<Reading> {
  for (let looks = 0; ; looks++) {
    const reading = await read(lab).catch(() => null);
    if (reading === null) {
      if (looks >= 30) throw new Error('the daemon does not answer any more');
    } else if (reading.callsLive + reading.callsHeld === 0 || looks >= 30) return reading;
    await new Promise((next) => setTimeout(next, READ_MS));
  }
}

function write(o: SoakOptions, report: SoakReport): void {
  const { samples, ...told } = report;
  const title = `${o.minutes} minutes, ${o.lines} lines`;
  writeFileSync(join(o.out, 'soak.csv'), toCsv(samples));
  writeFileSync(join(o.out, 'soak.svg'), drawSoak(title, samples));
  writeFileSync(join(o.out, 'verdict.json'), `${JSON.stringify(told, null, 2)}\n`);
}
