// One round: a subject brought to N calls, warmed up, measured for a while.
import { setTimeout as wait } from 'node:timers/promises';
import type { CarrierReport, ModelReport } from './load/orders.ts';
import { median, type Summary } from './load/samples.ts';
import type { Peer } from './peer.ts';
import { readMachine, readUsage, threadCpu, type Usage } from './probe.ts';
import type { Subject, SubjectName } from './subject.ts';

const RAMP_CALLS_A_SECOND = 40;
const DIAL_MS = 20_000;
/** The load sends its frames within a fraction of a millisecond; when it cannot, it waits for the processor. */
const DISTURBED_MS = 5;
/** A clear that comes later belongs to something else. */
const REACTION_LIMIT_MS = 2_000;

export interface Figures {
  subject: SubjectName;
  calls: number;
  seconds: number;
  /** CPU of the subject's process, all threads, microseconds a call and second. */
  cpuUs: number;
  /** The same by thread, the busiest first. */
  threads: { name: string; cpuUs: number }[];
  /** Resident memory beyond that of the idle process, per call. */
  memoryBytes: number;
  uplink: Summary;
  uplinkOldest: Summary;
  firstAudio: Summary;
  lateness: Summary;
  /** From the interruption's first frame (the daemon) or from the model's word (the floors) to the clear. */
  reaction: Summary;
  audibleReaction: Summary;
  missedBargeIns: number;
  lostFrames: number;
  shortAnswers: number;
  wholeAnswers: number;
  answers: number;
  appends: number;
  toCarrier: number;
  /** Stream start to the first question to the model, plus its first delta to the first sound at the carrier. */
  greetingOwnMs: number;
  /** The daemon's own metrics; NaN for a floor. */
  loopDelayP99Ms: number;
  tickLateMaxMs: number;
  /** Share of the whole machine that was busy. */
  machineBusy: number;
  generatorLate: Summary;
  /** Why the round proves nothing, or null. */
  broken: string | null;
  /** Other work on the machine held up the load itself: latencies are then not the subject's, and CPU is too low. */
  disturbed: boolean;
}

export interface Load {
  carrier: Peer;
  model: Peer;
}

/** Brings the subject from `from` to `to` calls and waits until all talk. @throws Error when some never do */
export async function raise(subject: Subject, load: Load, from: number, to: number): Promise<void> {
  const step = Math.max(1, Math.round(RAMP_CALLS_A_SECOND / 4));
  for (let at = from; at < to; at += step) {
    const before = performance.now();
    await subject.addCalls(at, Math.min(to, at + step));
    await wait(Math.max(0, 250 - (performance.now() - before)));
  }
  const giveUp = performance.now() + DIAL_MS;
  for (;;) {
    const { open, failures } = await load.carrier.ask<{ open: number; failures: string[] }>({ do: 'count' });
    if (open >= to) return;
    if (performance.now() > giveUp)
      throw new Error(`${open} of ${to} calls came up: ${failures[0] ?? 'no reason given'}`);
    await wait(200);
  }
}

/** Measures a subject that has `calls` calls. `idle` was read when it had none. */
export async function measure(
  subject: Subject,
  load: Load,
  o: { calls: number; seconds: number; idle: Usage },
): Promise<Figures> {
  load.carrier.tell({ do: 'begin' });
  load.model.tell({ do: 'begin' });
  const machineBefore = readMachine();
  const before = readUsage(subject.pid);
  const began = performance.now();
  const delays: number[] = [];
  const ticks: number[] = [];
  while (performance.now() - began < o.seconds * 1000) {
    await wait(Math.min(1_000, o.seconds * 1000 - (performance.now() - began)));
    const text = await subject.metrics();
    delays.push(...gauge(text, 'offhook_media_loop_delay_p99_seconds').map((seconds) => seconds * 1000));
    ticks.push(...gauge(text, 'offhook_media_tick_late_max_seconds').map((seconds) => seconds * 1000));
  }
  const after = readUsage(subject.pid);
  const seconds = (performance.now() - began) / 1000;
  const machineAfter = readMachine();
  const [carrier, model] = await Promise.all([
    load.carrier.ask<CarrierReport>({ do: 'end' }),
    load.model.ask<ModelReport>({ do: 'end' }),
  ]);
  const perCall = (ms: number) => (ms * 1000) / (o.calls * seconds);
  const isFloor = subject.name === 'json' || subject.name === 'agents';
  return {
    subject: subject.name,
    calls: o.calls,
    seconds,
    cpuUs: perCall(after.cpuMs - before.cpuMs),
    threads: threadCpu(before, after).map(({ name, cpuMs }) => ({ name, cpuUs: perCall(cpuMs) })),
    memoryBytes: (after.rssBytes - o.idle.rssBytes) / o.calls,
    uplink: model.uplink,
    uplinkOldest: model.uplinkOldest,
    firstAudio: carrier.firstAudio,
    lateness: carrier.lateness,
    reaction: isFloor ? fromEvent(model, carrier) : carrier.reaction,
    audibleReaction: carrier.audibleReaction,
    missedBargeIns: carrier.missedBargeIns,
    lostFrames: model.lostFrames,
    shortAnswers: carrier.shortAnswers,
    wholeAnswers: carrier.wholeAnswers,
    answers: model.answers,
    appends: model.appends,
    toCarrier: carrier.receivedMessages,
    greetingOwnMs: isFloor ? Number.NaN : greetingOwn(model, carrier),
    loopDelayP99Ms: median(delays),
    tickLateMaxMs: median(ticks),
    machineBusy: (machineAfter.busy - machineBefore.busy) / (machineAfter.total - machineBefore.total),
    generatorLate: carrier.lateSends,
    disturbed: carrier.lateSends.p99 > DISTURBED_MS,
    broken:
      carrier.open < o.calls
        ? `${o.calls - carrier.open} calls were lost: ${carrier.failures[0] ?? ''}`
        : null,
  };
}

/** The model's word that somebody speaks, to the clear that follows at the carrier. */
function fromEvent(model: ModelReport, carrier: CarrierReport): Summary {
  const clears = new Map<number, number[]>();
  for (const { call, atMs } of carrier.clears) clears.set(call, [...(clears.get(call) ?? []), atMs]);
  const found = model.speechStarts
    .flatMap(({ call, atMs }) => {
      const clear = clears.get(call)?.find((at) => at >= atMs && at < atMs + REACTION_LIMIT_MS);
      return clear === undefined ? [] : [clear - atMs];
    })
    .sort((a, b) => a - b);
  const at = (share: number) =>
    found[Math.min(found.length - 1, Math.floor(found.length * share))] ?? Number.NaN;
  return { count: found.length, p50: at(0.5), p99: at(0.99), max: found.at(-1) ?? Number.NaN };
}

function greetingOwn(model: ModelReport, carrier: CarrierReport): number {
  const starts = new Map(carrier.starts.map((one) => [one.call, one]));
  return median(
    model.greetings.flatMap(({ call, askedAtMs, firstDeltaAtMs }) => {
      const start = starts.get(call);
      if (start === undefined) return [];
      return [askedAtMs - start.startedAtMs + (start.firstMediaAtMs - firstDeltaAtMs)];
    }),
  );
}

/** One gauge's values by thread, from the text of /metrics. */
function gauge(text: string, name: string): number[] {
  return [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'gm'))].map((match) => Number(match[1]));
}
