// One round: a subject brought to N calls, warmed up, made older where that is asked for, measured for a while.
import { setTimeout as wait } from 'node:timers/promises';
import { COLUMNS, type ColumnName } from './columns.ts';
import type { CarrierReport, ModelReport, TurnsReport } from './load/orders.ts';
import { median, type Summary } from './load/samples.ts';
import { createTrack, turnsIn } from './load/track.ts';
import type { Peer } from './peer.ts';
import { readMachine, readUsage, type Usage, usedBetween } from './probe.ts';
import type { Subject } from './subject.ts';

const RAMP_CALLS_A_SECOND = 40;
const DIAL_MS = 20_000;
/** The load is in time within a millisecond or two; when it is not, it waits for the processor. */
const DISTURBED_MS = 5;
/** A clear that comes later belongs to something else. */
const REACTION_LIMIT_MS = 2_000;
/** What a short turn may take at most, usually it is two seconds; and until the first one is heard of. */
const SHORT_TURN_LIMIT_MS = 3_000;
const FIRST_TURN_MS = 15_000;
/** Of questions: what may begin before a round or be answered after it, and what few calls may have more or less. */
const UNANSWERED = 0.1;
const FEW_ANSWERS = 5;
/** p99 of what the subject adds, each way. */
const LATENCY_LIMIT_MS = 20;

const track = createTrack();

export interface Figures {
  column: ColumnName;
  /** Rounds of the same number lie near each other in time: their ratios are what is compared. 0: a step of a climb. */
  round: number;
  calls: number;
  seconds: number;
  /** CPU of the subject's process, all threads, microseconds a call and second. */
  cpuUs: number;
  /** The same by thread, the busiest first, with how often it woke up, read, and how much it read, a call and second. */
  threads: { name: string; cpuUs: number; wakeUps: number; reads: number; readBytes: number }[];
  /** Resident memory beyond that of the idle process, per call. */
  memoryBytes: number;
  newestFrame: Summary;
  everyFrame: Summary;
  heldFrame: Summary;
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
  /** Turns of a caller, the middle one, since his call began. */
  turns: number;
  appends: number;
  toCarrier: number;
  /** Stream start to the first question to the model, plus its first delta to the first sound at the carrier. */
  greetingOwnMs: number;
  /** The daemon's own metrics; NaN for a floor. */
  loopDelayP99Ms: number;
  tickLateMaxMs: number;
  /** Share of the whole machine that was busy. */
  machineBusy: number;
  /** How late the load itself was: the carrier with its frames, the model with its ticks. */
  carrierLate: Summary;
  modelLate: Summary;
  /** Why these calls were not carried well, or null. */
  notCarried: string | null;
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

/** Gives every call `turns` more turns, short ones that follow each other. @throws Error when they take too long */
export async function age({ carrier, model }: Load, turns: number): Promise<void> {
  const had = async () => (await model.ask<TurnsReport>({ do: 'turns' })).middle;
  const wanted = (await had()) + turns;
  const giveUp = performance.now() + FIRST_TURN_MS + turns * SHORT_TURN_LIMIT_MS;
  for (const peer of [carrier, model]) peer.tell({ do: 'hurry', on: true });
  for (let now = await had(); now < wanted; now = await had()) {
    if (performance.now() > giveUp) throw new Error(`calls had ${now} turns where ${wanted} were wanted`);
    await wait(500);
  }
  for (const peer of [carrier, model]) peer.tell({ do: 'hurry', on: false });
}

/** Measures a subject that has `calls` calls. `idle` was read when it had none. */
export async function measure(
  subject: Subject,
  load: Load,
  o: { round: number; calls: number; seconds: number; idle: Usage },
): Promise<Figures> {
  load.carrier.tell({ do: 'begin' });
  load.model.tell({ do: 'begin' });
  const machineBefore = readMachine();
  const before = readUsage(subject.pid);
  const began = performance.now();
  const delays: number[] = [];
  const ticks: number[] = [];
  for (let left = o.seconds * 1000; left > 0; left = o.seconds * 1000 - (performance.now() - began)) {
    await wait(Math.min(1_000, left));
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
  const perCall = (value: number) => value / (o.calls * seconds);
  const isFloor = COLUMNS[subject.column].program !== 'daemon';
  const figures: Omit<Figures, 'notCarried'> = {
    column: subject.column,
    round: o.round,
    calls: o.calls,
    seconds,
    cpuUs: perCall((after.cpuMs - before.cpuMs) * 1000),
    threads: usedBetween(before, after).map(({ name, cpuMs, sleeps, reads, readBytes }) => ({
      name,
      cpuUs: perCall(cpuMs * 1000),
      wakeUps: perCall(sleeps),
      reads: perCall(reads),
      readBytes: perCall(readBytes),
    })),
    memoryBytes: (after.rssBytes - o.idle.rssBytes) / o.calls,
    newestFrame: model.newestFrame,
    everyFrame: model.everyFrame,
    heldFrame: model.heldFrame,
    firstAudio: carrier.firstAudio,
    lateness: carrier.lateness,
    reaction: isFloor ? fromEvent(model, carrier) : carrier.reaction,
    audibleReaction: carrier.audibleReaction,
    missedBargeIns: carrier.missedBargeIns,
    lostFrames: model.lostFrames,
    shortAnswers: carrier.shortAnswers,
    wholeAnswers: carrier.wholeAnswers,
    answers: model.answers,
    turns: model.turns,
    appends: model.appends,
    toCarrier: carrier.receivedMessages,
    greetingOwnMs: isFloor ? Number.NaN : greetingOwn(model, carrier),
    loopDelayP99Ms: median(delays),
    tickLateMaxMs: median(ticks),
    machineBusy: (machineAfter.busy - machineBefore.busy) / (machineAfter.total - machineBefore.total),
    carrierLate: carrier.lateSends,
    modelLate: model.lateTicks,
    disturbed: Math.max(carrier.lateSends.p99, model.lateTicks.p99) > DISTURBED_MS,
  };
  const gone = o.calls - carrier.open;
  const notCarried = gone > 0 ? `${gone} calls were lost: ${carrier.failures[0] ?? ''}` : whyNot(figures);
  return { ...figures, notCarried };
}

/** Why calls that live were not carried well; null when they were. */
export function whyNot(figures: Omit<Figures, 'notCarried'>): string | null {
  if (figures.newestFrame.count === 0) return 'no sound reached the model';
  // Whoever does not hear a question saves its answer.
  const due = figures.calls * turnsIn(figures.seconds, track);
  if (figures.answers < due - Math.max(FEW_ANSWERS, due * UNANSWERED))
    return `${figures.answers} answers for about ${Math.round(due)} questions`;
  if (figures.lostFrames > 0) return `${figures.lostFrames} frames of callers lost`;
  if (figures.shortAnswers > 0) return `${figures.shortAnswers} answers not whole`;
  const late = (what: string, { p99 }: Summary) =>
    p99 > LATENCY_LIMIT_MS ? `${what} p99 ${p99.toFixed(0)} ms` : null;
  return (
    late('newest frame', figures.newestFrame) ??
    late('first audio', figures.firstAudio) ??
    late('gaps in answers', figures.lateness)
  );
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
