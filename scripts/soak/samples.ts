// PURE. What the daemon holds and how it keeps time, read from its /metrics: one reading a second, one sample of several
// readings, and the samples as CSV.

/** Bytes by thread ("control", "1", ...) and kind (heap_used, heap_total, external, array_buffers). */
export type Memory = Record<string, Record<string, number>>;

/** The worst of a second, in milliseconds; NaN where nothing was told. */
export interface Delays {
  controlLoopP99Ms: number;
  mediaLoopP99Ms: number;
  mediaLoopMaxMs: number;
  tickLateMaxMs: number;
  frameAgeP99Ms: number;
}

export interface Reading extends Delays {
  residentBytes: number;
  memory: Memory;
  fds: number;
  /** Timers, sockets, requests of the control thread. */
  handles: number;
  walBytes: number;
  callsLive: number;
  /** Calls that media threads hold. */
  callsHeld: number;
  /** Since the start, and of these those that waited 20 ms or more. */
  framesIn: number;
  framesLate: number;
}

/** Memory as last read, delays as the worst since the sample before. */
export interface Sample extends Reading {
  seconds: number;
  callsEnded: number;
  /** Of the resident set what belongs to no file: heaps, stacks, native memory. NaN where the system does not tell. */
  anonymousBytes: number;
}

const LINE = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z]+)="([^"]*)"/g;

/** Reads the text of /metrics. */
export function readMetrics(text: string): Reading {
  const memory: Memory = {};
  const found = new Map<string, number[]>();
  for (const line of text.split('\n')) {
    const [, name = '', labelText = '', value = ''] = LINE.exec(line) ?? [];
    if (name === '') continue;
    if (name === 'offhook_thread_memory_bytes') {
      const labels = Object.fromEntries([...labelText.matchAll(LABEL)].map(([, key, of]) => [key, of]));
      const thread = labels.thread ?? '';
      memory[thread] = { ...memory[thread], [labels.kind ?? '']: Number(value) };
    } else found.set(name, [...(found.get(name) ?? []), Number(value)]);
  }
  const most = (name: string) => Math.max(Number.NEGATIVE_INFINITY, ...(found.get(name) ?? []));
  const ms = (name: string) => (found.has(name) ? most(name) * 1000 : Number.NaN);
  const sum = (name: string) => (found.get(name) ?? []).reduce((all, one) => all + one, 0);
  return {
    residentBytes: most('process_resident_memory_bytes'),
    memory,
    fds: most('process_open_fds'),
    handles: sum('nodejs_active_resources_total'),
    walBytes: most('offhook_storage_wal_bytes'),
    callsLive: sum('offhook_calls_live'),
    callsHeld: sum('offhook_media_calls'),
    framesIn: sum('offhook_media_frames_in'),
    framesLate: sum('offhook_media_frames_late'),
    controlLoopP99Ms: ms('nodejs_eventloop_lag_p99_seconds'),
    mediaLoopP99Ms: ms('offhook_media_loop_delay_p99_seconds'),
    mediaLoopMaxMs: ms('offhook_media_loop_delay_max_seconds'),
    tickLateMaxMs: ms('offhook_media_tick_late_max_seconds'),
    frameAgeP99Ms: ms('offhook_media_frame_age_p99_seconds'),
  };
}

/** Bytes of one kind over the media threads, or of the control thread. */
export function held({ memory }: Pick<Reading, 'memory'>, where: 'control' | 'media', kind: string): number {
  let bytes = 0;
  for (const [thread, kinds] of Object.entries(memory))
    if ((thread === 'control') === (where === 'control')) bytes += kinds[kind] ?? 0;
  return bytes;
}

const DELAYS = [
  'controlLoopP99Ms',
  'mediaLoopP99Ms',
  'mediaLoopMaxMs',
  'tickLateMaxMs',
  'frameAgeP99Ms',
] as const satisfies readonly (keyof Delays)[];

/** The sample that stands for several readings. @throws RangeError when there is none */
export function joinReadings(
  readings: readonly Reading[],
  more: Pick<Sample, 'seconds' | 'callsEnded' | 'anonymousBytes'>,
): Sample {
  const last = readings.at(-1);
  if (last === undefined) throw new RangeError('a sample of no readings');
  const worst = (of: keyof Delays) => {
    const told = readings.map((reading) => reading[of]).filter((value) => !Number.isNaN(value));
    return told.length === 0 ? Number.NaN : Math.max(...told);
  };
  return { ...last, ...Object.fromEntries(DELAYS.map((of) => [of, worst(of)])), ...more };
}

/** A line a sample, with a column for each thread's memory. */
export function toCsv(samples: readonly Sample[]): string {
  const columns = new Set<string>();
  for (const { memory } of samples)
    for (const [thread, kinds] of Object.entries(memory))
      for (const kind of Object.keys(kinds)) columns.add(`${thread} ${kind}`);
  const plain = [
    'seconds',
    'callsEnded',
    'callsLive',
    'callsHeld',
    'residentBytes',
    'anonymousBytes',
    'fds',
    'handles',
    'walBytes',
    ...DELAYS,
  ] as const satisfies readonly (keyof Sample)[];
  const cell = (value: number | undefined) =>
    value === undefined || Number.isNaN(value) ? '' : String(Math.round(value * 100) / 100);
  const rows = samples.map((sample) => [
    ...plain.map((name) => cell(sample[name])),
    ...[...columns].map((column) => {
      const [thread = '', kind = ''] = column.split(' ');
      return cell(sample.memory[thread]?.[kind]);
    }),
  ]);
  const head = [...plain, ...[...columns].map((column) => column.replace(' ', '_'))];
  return `${[head, ...rows].map((row) => row.join(',')).join('\n')}\n`;
}
