// Rounds and runs made up for the tests of what is worked out from them.
import type { ColumnName } from './columns.ts';
import type { CampaignOptions, Climb, Results } from './results.ts';
import type { Figures } from './round.ts';

const summary = (p99: number) => ({ count: 1_000, p50: p99 / 2, p99, max: p99 * 2 });

/** A round of 100 calls that nothing is wrong with. */
export function figures(over: Partial<Figures> = {}): Figures {
  return {
    column: 'daemon',
    round: 1,
    calls: 100,
    seconds: 9,
    cpuUs: 2_000,
    threads: [
      { name: 'media-1', cpuUs: 1_500, wakeUps: 2, reads: 50, readBytes: 17_000 },
      { name: 'MainThread', cpuUs: 400, wakeUps: 1, reads: 2, readBytes: 2_000 },
      { name: 'V8Worker', cpuUs: 100, wakeUps: 0.5, reads: 0, readBytes: 0 },
    ],
    memoryBytes: 400 * 1024,
    newestFrame: summary(6),
    everyFrame: summary(90),
    heldFrame: summary(700),
    firstAudio: summary(8),
    lateness: summary(0),
    reaction: summary(120),
    audibleReaction: summary(150),
    missedBargeIns: 0,
    lostFrames: 0,
    shortAnswers: 0,
    wholeAnswers: 300,
    answers: 300,
    turns: 5,
    appends: 4_000,
    toCarrier: 20_000,
    greetingOwnMs: 4,
    loopDelayP99Ms: 5,
    tickLateMaxMs: 5,
    machineBusy: 0.4,
    carrierLate: summary(0.3),
    modelLate: summary(0.5),
    notCarried: null,
    disturbed: false,
    ...over,
  };
}

/** Rounds of a column, one for each cost. */
export function roundsAt(column: ColumnName, calls: number, costs: readonly number[]): Figures[] {
  return costs.map((cpuUs, index) => figures({ column, calls, cpuUs, round: index + 1 }));
}

/** A climb that was ended by the subject after so many steps of 50. */
export function climb(column: ColumnName, carried: number, memoryBytes: (calls: number) => number): Climb {
  const steps = Array.from({ length: carried }, (_, index) => {
    const calls = (index + 1) * 50;
    return figures({ column, calls, round: 0, memoryBytes: memoryBytes(calls) / calls });
  });
  return { calls: carried * 50, steps, ended: { why: 'not carried', text: 'newest frame p99 25 ms' } };
}

export function results(rounds: readonly Figures[], over: Partial<Results> = {}): Results {
  const options: CampaignOptions = {
    calls: 100,
    rounds: 3,
    seconds: 9,
    warmUpSeconds: 9,
    warmUpCallSeconds: 900,
    columns: ['daemon', 'json', 'agents'],
    scaling: [10, 300],
    climbing: ['daemon', 'json'],
    agedTurns: 106,
    threads: 1,
    settings: {},
    limitSeconds: 60,
    pin: true,
  };
  return {
    environment: {
      cpu: 'a processor',
      cores: 4,
      node: 'v24.0.0',
      system: 'linux',
      commit: 'abc',
      at: '2026-01-01T00:00:00.000Z',
      loadBefore: 0.1,
      loadAfter: 0.2,
    },
    options,
    placement: { subject: '0', carrier: '2', model: '3' },
    packages: {},
    rounds: [...rounds],
    left: [],
    climbs: {},
    tookSeconds: 60,
    ...over,
  };
}
