// The whole bench: rounds of each subject in turn, the same load on all, then the daemon at few calls and at many, then how many
// each of them carries. Measures and keeps; what the figures look like is elsewhere.
import { execFileSync } from 'node:child_process';
import { arch, availableParallelism, cpus, loadavg, platform, release } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { agentsPackages } from './floors/packages.ts';
import { startPeer } from './peer.ts';
import { readUsage } from './probe.ts';
import { type Figures, type Load, measure, raise } from './round.ts';
import { type Cores, type SubjectName, startSubject } from './subject.ts';

export interface CampaignOptions {
  calls: number;
  rounds: number;
  /** Measured in a round, after the warm-up. */
  seconds: number;
  warmUpSeconds: number;
  subjects: readonly SubjectName[];
  /** Calls at which the daemon and the bare bridge are measured besides. */
  scaling: readonly number[];
  /** Whether to look for the largest number of calls. */
  largest: boolean;
  mediaThreads: number;
  /** Settings of the daemon that are not its defaults. */
  settings: Record<string, string>;
  /** After this nothing new is begun. */
  limitSeconds: number;
  /** Subject and load on cores of their own, where there are two. */
  pin: boolean;
}

export interface LargestResult {
  calls: number;
  steps: { figures: Figures; carried: boolean; why: string }[];
  /** The ladder ended before the subject did. */
  open: boolean;
  /** It ended because the load could not be kept up: other work on the machine, or the load's own limit. */
  disturbed: boolean;
}

export interface Campaign {
  host: { cpu: string; cores: number; node: string; system: string; loadBefore: number; loadAfter: number };
  options: CampaignOptions;
  cores: Cores | null;
  agents: { version: string } | { missing: string } | null;
  compared: Partial<Record<SubjectName, Figures[]>>;
  scaling: Figures[];
  largest: Partial<Record<SubjectName, LargestResult>>;
  tookSeconds: number;
}

export interface Progress {
  /** Something begins. `share` of the whole is done. */
  step(text: string, share: number): void;
  /** A round is measured. */
  measured(figures: Figures): void;
}

const LATENCY_LIMIT_MS = 20;
const LADDER = [100, 150, 220, 310, 430, 580];
const LARGEST_SECONDS = 6;
const SETTLE_MS = 2_500;
const IDLE_MS = 500;
const MOST_TRIES = 4;

/** The subject gets the first half of the cores, the load the rest; null when there is one core only, or no taskset. */
export function splitCores(): Cores | null {
  const count = availableParallelism();
  if (count < 2) return null;
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' });
  } catch {
    return null;
  }
  const half = Math.floor(count / 2);
  const list = (from: number, to: number) => (to - from === 1 ? String(from) : `${from}-${to - 1}`);
  return { subject: list(0, half), load: list(half, count) };
}

export async function runCampaign(o: CampaignOptions, progress: Progress): Promise<Campaign> {
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const cores = o.pin ? splitCores() : null;
  let agents: Campaign['agents'] = null;
  let agentsFolder: string | null = null;
  if (o.subjects.includes('agents')) {
    progress.step('the Agents SDK is installed in a folder of its own', 0);
    const found = await agentsPackages();
    agents = 'folder' in found ? { version: found.version } : found;
    if ('folder' in found) agentsFolder = found.folder;
  }
  const subjects = o.subjects.filter((name) => name !== 'agents' || agentsFolder !== null);
  const campaign: Campaign = {
    host: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      node: process.version,
      system: `${platform()} ${release()} ${arch()}`,
      loadBefore: loadavg()[0] ?? Number.NaN,
      loadAfter: Number.NaN,
    },
    options: o,
    cores,
    agents,
    compared: {},
    scaling: [],
    largest: {},
    tookSeconds: 0,
  };
  const carrier = await startPeer('test/bench/load/carrier.ts', [], cores?.load ?? null);
  const model = await startPeer('test/bench/load/model.ts', [], cores?.load ?? null);
  const load: Load = { carrier, model };
  const subjectOptions = (calls: number) => ({
    carrier,
    modelUrl: `http://127.0.0.1:${model.port}`,
    calls,
    cores: cores?.subject ?? null,
    agentsFolder,
    mediaThreads: o.mediaThreads,
    settings: o.settings,
    nodeArgs: [],
  });

  async function round(name: SubjectName, calls: number, seconds: number): Promise<Figures> {
    const subject = await startSubject(name, subjectOptions(calls));
    try {
      await wait(IDLE_MS);
      const idle = readUsage(subject.pid);
      await raise(subject, load, 0, calls);
      await wait(o.warmUpSeconds * 1000);
      const figures = await measure(subject, load, { calls, seconds, idle });
      progress.measured(figures);
      return figures;
    } finally {
      await carrier.ask({ do: 'close' });
      await subject.stop();
      await model.ask({ do: 'close' });
    }
  }

  async function largest(name: SubjectName): Promise<LargestResult> {
    const result: LargestResult = { calls: 0, steps: [], open: true, disturbed: false };
    const last = LADDER.at(-1) ?? 0;
    const subject = await startSubject(name, subjectOptions(last));
    try {
      await wait(IDLE_MS);
      const idle = readUsage(subject.pid);
      let up = 0;
      for (const calls of LADDER) {
        if (elapsed() > o.limitSeconds) return result;
        progress.step(`how many calls: ${name} at ${calls}`, elapsed() / o.limitSeconds);
        let why: string | null = null;
        try {
          await raise(subject, load, up, calls);
          up = calls;
          // A shared machine steals a slice now and then: a second try counts as well, and one that other work disturbed not at all.
          let tries = 0;
          for (let attempt = 0; attempt < MOST_TRIES && tries < 2; attempt++) {
            await wait(SETTLE_MS);
            const figures = await measure(subject, load, { calls, seconds: LARGEST_SECONDS, idle });
            why = whyNot(figures);
            result.steps.push({ figures, carried: why === null, why: why ?? '' });
            progress.measured(figures);
            if (why === null) break;
            if (!figures.disturbed) tries++;
          }
          if (why !== null && tries === 0) {
            result.disturbed = true;
            return result;
          }
        } catch (error) {
          why = error instanceof Error ? error.message : String(error);
        }
        if (why !== null) {
          result.open = false;
          return result;
        }
        result.calls = calls;
      }
      return result;
    } finally {
      await carrier.ask({ do: 'close' });
      await subject.stop();
      await model.ask({ do: 'close' });
    }
  }

  try {
    for (let number = 1; number <= o.rounds; number++) {
      for (const name of subjects) {
        // What differs from the daemon by a setting only needs fewer rounds.
        if (number > 2 && (name === 'daemon-joined' || name === 'daemon-recording')) continue;
        progress.step(
          `round ${number} of ${o.rounds}: ${name}, ${o.calls} calls`,
          elapsed() / o.limitSeconds,
        );
        const figures = await round(name, o.calls, o.seconds).catch((error: unknown) => {
          progress.step(`left out: ${error instanceof Error ? error.message : String(error)}`, 0);
          return null;
        });
        if (figures !== null) campaign.compared[name] = [...(campaign.compared[name] ?? []), figures];
      }
    }
    for (const calls of o.scaling) {
      if (elapsed() > o.limitSeconds) break;
      for (const name of subjects.filter((one) => one === 'daemon' || one === 'json')) {
        progress.step(`${name} at ${calls} calls`, elapsed() / o.limitSeconds);
        const figures = await round(name, calls, o.seconds).catch((error: unknown) => {
          progress.step(`left out: ${error instanceof Error ? error.message : String(error)}`, 0);
          return null;
        });
        if (figures !== null) campaign.scaling.push(figures);
      }
    }
    if (o.largest) {
      for (const name of subjects.filter((one) => one === 'daemon' || one === 'json' || one === 'agents')) {
        if (elapsed() > o.limitSeconds) break;
        campaign.largest[name] = await largest(name);
      }
    }
  } finally {
    carrier.stop();
    model.stop();
  }
  campaign.host.loadAfter = loadavg()[0] ?? Number.NaN;
  campaign.tookSeconds = elapsed();
  return campaign;
}

/** Why a subject did not carry its calls well; null when it did. */
function whyNot(figures: Figures): string | null {
  if (figures.broken !== null) return figures.broken;
  if (figures.lostFrames > 0) return `${figures.lostFrames} frames of callers lost`;
  if (figures.shortAnswers > 0) return `${figures.shortAnswers} answers not whole`;
  if (figures.uplink.p99 > LATENCY_LIMIT_MS) return `to the model p99 ${figures.uplink.p99.toFixed(0)} ms`;
  if (figures.firstAudio.p99 > LATENCY_LIMIT_MS)
    return `first audio p99 ${figures.firstAudio.p99.toFixed(0)} ms`;
  if (figures.lateness.p99 > LATENCY_LIMIT_MS)
    return `gaps in answers p99 ${figures.lateness.p99.toFixed(0)} ms`;
  return null;
}
