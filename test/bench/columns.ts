// PURE. The bench's columns: the program of each, how the daemon differs there from the daemon as it comes, and its floor.

/** What runs in a column: the daemon, or a bridge of floors/. */
export type Program = 'daemon' | 'json' | 'agents' | 'framework';

export type ColumnName =
  | 'daemon'
  | 'json'
  | 'agents'
  | 'framework'
  | 'daemon-direct'
  | 'daemon-recording'
  | 'daemon-tls'
  | 'json-tls'
  | 'daemon-2-threads'
  | 'daemon-4-threads'
  | 'daemon-aged';

export interface Column {
  title: string;
  program: Program;
  /** The bridge whose cost under the same load its own is a ratio of. */
  floor: 'json' | 'json-tls';
  /** Each media socket goes straight to its thread's own port, as a proxy brings it that knows them. */
  direct?: true;
  /** Settings of the daemon that are not its defaults. */
  settings?: Readonly<Record<string, string>>;
  /** The model is reached by wss://. */
  tls?: true;
  /** The calls have ten minutes of turns behind them. */
  aged?: true;
  /** Media threads, each with a core and as many calls as the one of the first column; else what the run is asked for. */
  threads?: number;
}

/** In the order in which they are measured: what is compared lies near each other. */
export const COLUMNS: Readonly<Record<ColumnName, Column>> = {
  daemon: { title: 'Offhook', program: 'daemon', floor: 'json' },
  json: { title: 'bare ws bridge (JSON both ways)', program: 'json', floor: 'json' },
  agents: { title: 'OpenAI Agents SDK, Twilio transport', program: 'agents', floor: 'json' },
  framework: { title: 'realtime-voice-agents, Twilio bridge', program: 'framework', floor: 'json' },
  'daemon-direct': {
    title: 'Offhook, media by MEDIA_PORT',
    program: 'daemon',
    floor: 'json',
    direct: true,
  },
  'daemon-recording': {
    title: 'Offhook, recording',
    program: 'daemon',
    floor: 'json',
    settings: { RECORD_CALLS: 'true' },
  },
  'daemon-tls': { title: 'Offhook, model over TLS', program: 'daemon', floor: 'json-tls', tls: true },
  'json-tls': { title: 'bare ws bridge, model over TLS', program: 'json', floor: 'json-tls', tls: true },
  'daemon-2-threads': { title: 'Offhook, 2 media threads', program: 'daemon', floor: 'json', threads: 2 },
  'daemon-4-threads': { title: 'Offhook, 4 media threads', program: 'daemon', floor: 'json', threads: 4 },
  'daemon-aged': { title: 'Offhook, calls ten minutes old', program: 'daemon', floor: 'json', aged: true },
};

export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly ColumnName[];

/** Columns measured with more calls than the first, by what they have more threads. */
export const THREAD_COLUMNS = COLUMN_NAMES.filter((name) => COLUMNS[name].threads !== undefined);
