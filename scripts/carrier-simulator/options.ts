// PURE. The simulator's configuration and the callee scripts: shapes, limits and defaults. Files are read elsewhere.
import { z } from 'zod';

const ms = z.number().min(0);
/** One value, or a range to draw from. */
const range = z
  .union([ms, z.tuple([ms, ms])])
  .transform((value): [number, number] => (typeof value === 'number' ? [value, value] : value));

const tone = z.strictObject({
  hz: z.number().min(20).max(4000),
  ms,
  levelDb: z.number().max(0).default(-15),
});
const soundShape = { file: z.string().optional(), tone: tone.optional(), gainDb: z.number().default(0) };
const oneSound = (sound: { file?: string | undefined; tone?: object | undefined }) =>
  (sound.file === undefined) !== (sound.tone === undefined);
const oneSoundError = { message: 'give either file or tone' };
const sound = z.strictObject(soundShape).refine(oneSound, oneSoundError);

/**
 * A turn starts at once, when the agent has spoken and then been silent so long, or in the middle of speech of which so much
 * was heard; or at the timeout.
 */
const when = z.union([
  z.literal('at_once'),
  z.strictObject({ afterAgentSilenceMs: ms, timeoutMs: ms.default(15_000) }),
  z.strictObject({ afterAgentMs: ms, timeoutMs: ms.default(30_000) }),
]);
const polite = { afterAgentSilenceMs: 800, timeoutMs: 15_000 };

const step = z.discriminatedUnion('do', [
  z
    .strictObject({ do: z.literal('say'), ...soundShape, when: when.default(polite) })
    .refine(oneSound, oneSoundError),
  z
    .strictObject({
      do: z.literal('barge_in'),
      ...soundShape,
      /** How much of the agent's speech was heard when the callee cuts in. */
      afterAgentMs: ms,
      timeoutMs: ms.default(30_000),
    })
    .refine(oneSound, oneSoundError),
  z.strictObject({
    do: z.literal('dtmf'),
    digits: z.string().regex(/^[0-9*#A-Dw]+$/),
    when: when.default('at_once'),
    /** Tones in the audio and no dtmf event: what must not count as a key. */
    inBand: z.boolean().default(false),
  }),
  z.strictObject({ do: z.literal('wait'), ms }),
  z.strictObject({
    do: z.literal('record'),
    silenceMs: ms.default(4000),
    noMessageMs: ms.default(10_000),
    maxMs: ms.default(120_000),
  }),
  z.strictObject({ do: z.literal('hang_up'), when: when.default('at_once') }),
]);

const verdict = z.enum([
  'human',
  'machine_start',
  'machine_end_beep',
  'machine_end_silence',
  'machine_end_other',
  'fax',
  'unknown',
]);

const networkShape = {
  /** Standard deviation of a frame's arrival. */
  jitterSdMs: ms,
  /** TCP stalls: both directions stand still, then everything comes at once. */
  stallsPerMinute: ms,
  stallMs: range,
  /** Share of frames that never come, in runs: the timestamp jumps. */
  lossRate: z.number().min(0).max(1),
  lossRunMs: range,
  /** Chance, at the end of each stretch of speech, that no frames come for a while, or until speech begins again (DTX). */
  dtxChance: z.number().min(0).max(1),
  dtxMs: range,
  earLatencyMs: range,
  playoutStartMs: range,
  clockSkewPpm: z.number(),
  duplicateRate: z.number().min(0).max(1),
  reorderRate: z.number().min(0).max(1),
  abortsPerMinute: ms,
  connectDelayMs: range,
  firstMediaDelayMs: range,
  hookDelayMs: range,
  hookDuplicateRate: z.number().min(0).max(1),
  amdDelayMs: range,
  postDialDelayMs: range,
  /** From the end of the call to its last status callback. */
  completedDelayMs: range,
  closeVariants: z
    .array(z.enum(['stop_then_close', 'close_without_stop', 'completed_before_stop', 'abort']))
    .min(1),
};
const network = z.strictObject(networkShape);
export type Network = z.output<typeof network>;
export type CloseVariant = Network['closeVariants'][number];

export const NETWORKS: Record<'clean' | 'typical' | 'bad', Network> = {
  clean: {
    jitterSdMs: 0,
    stallsPerMinute: 0,
    stallMs: [0, 0],
    lossRate: 0,
    lossRunMs: [0, 0],
    dtxChance: 0,
    dtxMs: [0, 0],
    earLatencyMs: [0, 0],
    playoutStartMs: [40, 40],
    clockSkewPpm: 0,
    duplicateRate: 0,
    reorderRate: 0,
    abortsPerMinute: 0,
    connectDelayMs: [0, 0],
    firstMediaDelayMs: [0, 0],
    hookDelayMs: [0, 0],
    hookDuplicateRate: 0,
    amdDelayMs: [100, 100],
    postDialDelayMs: [20, 20],
    completedDelayMs: [50, 50],
    closeVariants: ['stop_then_close'],
  },
  typical: {
    jitterSdMs: 3.5,
    stallsPerMinute: 1,
    stallMs: [100, 200],
    lossRate: 0.001,
    lossRunMs: [20, 40],
    dtxChance: 0.01,
    dtxMs: [200, 1000],
    earLatencyMs: [80, 150],
    playoutStartMs: [40, 100],
    clockSkewPpm: 20,
    duplicateRate: 0,
    reorderRate: 0,
    abortsPerMinute: 0,
    connectDelayMs: [250, 450],
    firstMediaDelayMs: [100, 200],
    hookDelayMs: [10, 300],
    hookDuplicateRate: 0.02,
    amdDelayMs: [100, 800],
    postDialDelayMs: [200, 1200],
    completedDelayMs: [50, 500],
    closeVariants: ['stop_then_close'],
  },
  bad: {
    jitterSdMs: 25,
    stallsPerMinute: 4,
    stallMs: [300, 1000],
    lossRate: 0.02,
    lossRunMs: [20, 100],
    dtxChance: 0.25,
    dtxMs: [1000, 5000],
    earLatencyMs: [300, 600],
    playoutStartMs: [60, 140],
    clockSkewPpm: 200,
    duplicateRate: 0.003,
    reorderRate: 0.003,
    abortsPerMinute: 0.2,
    connectDelayMs: [400, 1500],
    firstMediaDelayMs: [100, 400],
    hookDelayMs: [10, 1500],
    hookDuplicateRate: 0.15,
    amdDelayMs: [100, 2500],
    postDialDelayMs: [500, 3000],
    completedDelayMs: [50, 1500],
    closeVariants: ['stop_then_close', 'close_without_stop', 'completed_before_stop'],
  },
};

/** A profile by name, or one with changes. */
const networkChoice = z
  .union([
    z.enum(['clean', 'typical', 'bad']),
    z.strictObject({
      profile: z.enum(['clean', 'typical', 'bad']).default('clean'),
      ...network.partial().shape,
    }),
  ])
  .transform((value): Network => {
    if (typeof value === 'string') return NETWORKS[value];
    const { profile, ...changes } = value;
    return { ...NETWORKS[profile], ...(changes as Partial<Network>) };
  });

const callee = z.strictObject({
  outcome: z.enum(['answer', 'busy', 'no_answer', 'rejected', 'invalid', 'hangup_at_once']).default('answer'),
  ringMs: range.default([500, 500]),
  /** hangup_at_once: how long after picking up. */
  hangUpAfterMs: ms.default(0),
  steps: z.array(step).default([]),
  /** Greeting, beep, then a recorded message; instead of steps. `beep: null` when the greeting ends in one. */
  voicemail: z
    .strictObject({
      greeting: sound,
      beep: tone.nullable().default({ hz: 1000, ms: 500, levelDb: -12 }),
      silenceMs: ms.default(4000),
      noMessageMs: ms.default(10_000),
      maxMs: ms.default(120_000),
    })
    .optional(),
  /** biome-ignore lint/suspicious/noThenProperty: a word of the script format, never a promise */
  then: z.enum(['listen', 'hang_up']).default('listen'),
  noise: z.strictObject({ levelDb: z.number().max(0) }).optional(),
  echo: z.strictObject({ gainDb: z.number().max(0), delayMs: ms }).optional(),
  /** The verdict of answering-machine detection, instead of computing it from what the callee says. */
  amd: z.strictObject({ verdict, afterMs: ms }).optional(),
  /** This number's own network, instead of the configuration's. */
  network: networkChoice.optional(),
});

/**
 * Moments of a stream's life at which a fault may strike: what the carrier has sent (`open`: nothing yet), what the callee
 * says (`callee_speech`: each 20 ms of its own voice, whatever the network makes of them), and what the application has
 * sent (`app_…`).
 */
const STREAM_STAGES = [
  'open',
  'connected',
  'start',
  'media',
  'dtmf',
  'mark_echo',
  'callee_speech',
  'app_media',
  'app_mark',
  'app_clear',
] as const;
export type StreamStage = (typeof STREAM_STAGES)[number];

/** A thing to go wrong. `times` counts down (default 1; 0: for ever); `path` is a part of the request's path. */
const fault = z.strictObject({
  do: z.enum([
    'status',
    'latency',
    'lose_response',
    'drop_connection',
    'number_taken',
    'hook_drop',
    'hook_delay',
    'hook_duplicate',
    'hook_unreachable',
    'stream_abort',
    'stream_half_open',
    'stream_stall',
    'stream_mute',
    'stream_refuse',
    'stream_deaf',
    'stream_garbage',
  ]),
  method: z.string().optional(),
  path: z.string().optional(),
  callSid: z.string().optional(),
  /** The number at the other end, for a call that is still to come. */
  number: z.string().optional(),
  /** stream_…: strikes at the so-manieth time that the stream comes to this, instead of at once. */
  at: z.strictObject({ stage: z.enum(STREAM_STAGES), count: z.number().int().min(1).default(1) }).optional(),
  times: z.number().int().min(0).default(1),
  /** status: the HTTP status, the carrier's code and its words. */
  status: z.number().int().optional(),
  code: z.number().int().optional(),
  message: z.string().optional(),
  /** latency, delay, stall, mute, deaf: how long; half_open: when the carrier notices (default: at once). */
  ms: range.optional(),
  /** stream_garbage: messages that no carrier would send. */
  count: z.number().int().min(1).default(1),
});
export type Fault = z.output<typeof fault>;
export type FaultInput = z.input<typeof fault>;

const ownedNumber = z.union([
  z
    .string()
    .transform((phoneNumber) => ({ phoneNumber, voiceUrl: '', statusCallback: '', friendlyName: '' })),
  z.strictObject({
    phoneNumber: z.string(),
    voiceUrl: z.string().default(''),
    statusCallback: z.string().default(''),
    friendlyName: z.string().default(''),
  }),
]);

const options = z.strictObject({
  port: z.number().int().min(0).max(65535).default(0),
  host: z.string().default('127.0.0.1'),
  accountSid: z
    .string()
    .regex(/^AC[0-9a-f]{32}$/)
    .default('AC00000000000000000000000000000001'),
  authToken: z.string().min(1).default('simulated-auth-token'),
  /** API keys (SK…) and their secrets, accepted beside the account's own. */
  apiKeys: z.record(z.string(), z.string()).default({}),
  numbers: z.array(ownedNumber).default([]),
  /** Numbers that someone else buys first: 21422. */
  takenNumbers: z.array(z.string()).default([]),
  verifiedCallerIds: z.array(z.string()).default([]),
  /** Who answers which number; also reachable by name from the control API. */
  callees: z.record(z.string(), callee).default({}),
  defaultCallee: callee.prefault({}),
  /** Folder that the scripts' `file` entries are relative to; default the working directory. */
  audioDir: z.string().default('.'),
  outDir: z.string().nullable().default(null),
  seed: z.number().int().default(1),
  /** Plain ws://, and certificates of nobody: for loopback only. */
  allowInsecure: z.boolean().default(false),
  /** A protocol violation ends the stream. */
  strict: z.boolean().default(false),
  network: networkChoice.default(NETWORKS.clean),
  /** Calls started a second; null starts them all at once. A new Twilio account has 1. */
  callsPerSecond: z.number().positive().nullable().default(null),
  /** A trial account: only verified numbers may be called, and ten minutes at most. */
  trial: z.boolean().default(false),
  verifiedNumbers: z.array(z.string()).default([]),
  /** Prefixes refused with 21215 (no geographic permission) and 21216 (blocked). */
  geoBlockedPrefixes: z.array(z.string()).default([]),
  blockedPrefixes: z.array(z.string()).default([]),
  hookDeadlineMs: ms.default(15_000),
  hookConnectMs: ms.default(5000),
  /** A call's price appears this long after its end. */
  priceDelayMs: ms.default(120_000),
  faults: z.array(fault).default([]),
});

/** What `startCarrierSimulator` and the configuration file accept. */
export type SimulatorOptions = z.input<typeof options>;
export type Options = z.output<typeof options>;
export type CalleeInput = z.input<typeof callee>;
export type CalleeScript = z.output<typeof callee>;
export type Step = z.output<typeof step>;
export type Sound = z.output<typeof sound>;
export type Verdict = z.output<typeof verdict>;

/** @throws Error naming every wrong field */
export function parseOptions(input: unknown): Options {
  return check(options, input);
}
export function parseCallee(input: unknown): CalleeScript {
  return check(callee, input);
}
export function parseFault(input: unknown): Fault {
  return check(fault, input);
}

function check<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input);
  if (!result.success) throw new Error(z.prettifyError(result.error));
  return result.data;
}
