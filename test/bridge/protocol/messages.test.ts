// Every message between the control side and a media side, through what may lie between the two: a copy in the process, or JSON.
// The samples are by type: a new type of message without one does not compile.
import t from 'tap';
import { plainFields } from '../../../bridge/media/log-fields.ts';
import {
  type FromMedia,
  MEDIA_PROTOCOL,
  type MediaThreadData,
  type ToMedia,
} from '../../../bridge/protocol/messages.ts';
import { SESSION_TEXTS, talkTexts } from '../../../control/agents/texts/moments.ts';

type Samples<M extends { type: string }> = { [T in M['type']]: Extract<M, { type: T }> };

/** What of a type JSON would not leave as it is. */
type NotPlain<T> = T extends string | number | boolean | null | undefined
  ? never
  : unknown extends T
    ? never
    : T extends
          | ((...given: never[]) => unknown)
          | ArrayBuffer
          | ArrayBufferView
          | ReadonlyMap<unknown, unknown>
          | ReadonlySet<unknown>
          | Date
          | Error
          | bigint
          | symbol
      ? T
      : T extends readonly (infer E)[]
        ? NotPlain<E>
        : { [K in keyof T]-?: NotPlain<T[K]> }[keyof T];
type Checked = Exclude<ToMedia | FromMedia, { type: 'log' }> | MediaThreadData;
const allPlain: [NotPlain<Checked>] extends [never] ? true : NotPlain<Checked> = true;

const callId = '0190f1c2-0000-7000-8000-000000000001';

const TO_MEDIA: Samples<ToMedia> = {
  prepare: {
    type: 'prepare',
    callId,
    carrier: 'twilio',
    tokenHash: 'ab'.repeat(32),
    direction: 'outbound',
    modelName: 'openai',
    model: {
      url: 'https://api.example.com/v1',
      apiKey: 'key',
      model: 'm',
      transcriptionModel: null,
      instructions: 'Be kind.',
      voice: 'marin',
      language: null,
      tools: [{ name: 'look_up', description: 'Looks up.', parameters: { type: 'object', properties: {} } }],
      texts: SESSION_TEXTS,
      turnDetection: 'local',
    },
    texts: talkTexts('outbound', null),
    disclosure: 'Hello, this is an AI assistant.',
    mayOptOut: false,
    shortWords: { assents: null, stops: [] },
    machine: 'leave_message',
    patience: 1.5,
    tuning: { patience: 'long', eagerness: 'eager', interruption: 'easy' },
    transferTargets: { sales: '+14155550123' },
    recordingPath: null,
    maxSeconds: 3_600,
    resumed: null,
  },
  'expect-stream': { type: 'expect-stream', callId, tokenHash: 'cd'.repeat(32) },
  'machine-detection': { type: 'machine-detection', callId, verdict: 'machine_ready' },
  'tool-result': { type: 'tool-result', callId, toolCallId: 't1', output: '{"ok":true}' },
  finish: { type: 'finish', callId, reason: 'draining', say: 'Goodbye.' },
  'stop-recording': { type: 'stop-recording', callId },
  release: { type: 'release', callId },
  stop: { type: 'stop' },
};

const FROM_MEDIA: Samples<FromMedia> = {
  listening: { type: 'listening', protocol: MEDIA_PROTOCOL, port: 40_001, isPublic: true, publicFd: 21 },
  'model-ready': { type: 'model-ready', callId, tookMs: 312 },
  'media-started': {
    type: 'media-started',
    callId,
    streamId: 'MZ1',
    carrierCallId: 'CA1',
    at: '2026-11-20T10:00:00.000Z',
    atMs: 0,
  },
  'stream-ended': { type: 'stream-ended', callId, how: 'lost', why: 'closed', atMs: 1_000 },
  alive: { type: 'alive', callId },
  floor: { type: 'floor', callId, floor: 'caller', atMs: 1_234.5 },
  transcript: {
    type: 'transcript',
    callId,
    items: [
      {
        id: 'i',
        role: 'agent',
        text: 'Hi — ¿qué?',
        heardText: 'Hi',
        interrupted: true,
        startMs: 1,
        endMs: null,
      },
    ],
  },
  'opted-out': {
    type: 'opted-out',
    callId,
    by: 'words',
    text: 'Do not call me again.',
    itemId: null,
    atMs: 2_400,
  },
  disclosure: {
    type: 'disclosure',
    callId,
    disclosure: {
      text: 'Hello, this is an AI assistant.',
      heardText: 'Hello, this is',
      heardMs: 620,
      startedMs: 300,
      endedMs: null,
      complete: false,
    },
  },
  turn: {
    type: 'turn',
    callId,
    times: {
      kind: 'answer',
      speechEndMs: 1,
      decidedMs: 2,
      requestedMs: 3,
      firstModelAudioMs: 4,
      firstSentMs: 5,
      firstHeardMs: null,
      bargedIn: false,
      thrownAway: 0,
    },
  },
  'barge-in': { type: 'barge-in', callId, atMs: 9, onsetMs: null, heldMs: 7, pausedMs: 8, silencedMs: 8 },
  'hold-taken-back': { type: 'hold-taken-back', callId, onsetMs: 1, heldMs: 2, pausedMs: null, resumedMs: 3 },
  'short-word': { type: 'short-word', callId, became: 'stopped' },
  'tool-called': {
    type: 'tool-called',
    callId,
    toolCallId: 't1',
    name: 'n',
    argumentsJson: '{"a":1}',
    atMs: 4,
  },
  usage: { type: 'usage', callId, usage: { input_audio_tokens: 12, transcription_seconds: 1.5 } },
  'digits-requested': { type: 'digits-requested', callId, toolCallId: 't2', digits: '12#' },
  'transfer-requested': {
    type: 'transfer-requested',
    callId,
    toolCallId: 't3',
    target: 'sales',
    number: '+14155550123',
  },
  finished: {
    type: 'finished',
    callId,
    reason: 'model_failed',
    errorCode: 'model_lost',
    errorMessage: 'gone',
    speak: null,
  },
  released: {
    type: 'released',
    callId,
    stats: {
      framesIn: 1,
      framesOut: 2,
      filledMs: 3,
      duplicateFrames: 4,
      lateFrames: 5,
      malformedMessages: 6,
      bargeIns: 7,
      falseBargeIns: 8,
      falsePauses: 2,
      earlyAnswers: 2,
      thrownAwayAnswers: 1,
      recordingFrames: 9,
      recordingDropped: 10,
      lateTickMs: 11,
    },
    recording: { frames: 9 },
  },
  load: {
    type: 'load',
    calls: 2,
    loopDelayP99Ms: 1.25,
    loopDelayMaxMs: 3,
    tickLateMaxMs: 0,
    skippedTicks: 0,
    frameAgeP50Ms: null,
    frameAgeP99Ms: null,
    framesIn: 1,
    framesLate: 0,
    framesOut: 1,
    vadWindows: 1,
    memory: { heapUsed: 1, heapTotal: 2, external: 3, arrayBuffers: 4 },
    refused: { token: 1 },
  },
  log: {
    type: 'log',
    level: 'error',
    event: 'vad.failed',
    fields: plainFields({
      err: new TypeError('broken'),
      call_id: callId,
      left_out: undefined,
      at: Number.NaN,
    }),
  },
};

const DATA: MediaThreadData = {
  protocol: MEDIA_PROTOCOL,
  epoch: 1,
  thread: 1,
  port: 0,
  publicPort: { host: '127.0.0.1', port: 8080 },
  carrierSecrets: { twilio: 'secret', browser: '' },
  publicUrl: 'https://calls.example.com',
  logLevel: 'info',
  callerIdleSeconds: 12,
  earlyAnswers: true,
  turnDetection: 'local',
  modelSessionSeconds: 3_300,
  vadModel: 'v5',
};

for (const [way, samples] of [
  ['to a media side', { ...TO_MEDIA, 'start-up data': DATA }],
  ['from a media side', FROM_MEDIA],
] as const) {
  for (const [type, message] of Object.entries(samples)) {
    t.test(`${way}, ${type}: a copy and JSON leave it as it is`, async (t) => {
      t.strictSame(structuredClone(message), message);
      t.strictSame(JSON.parse(JSON.stringify(message)), message);
    });
  }
}

t.test('no type of message has a field that JSON would change', async (t) => t.ok(allPlain));

t.test('an error in a log line is described where it happened', async (t) => {
  const { err } = plainFields({ err: Object.assign(new RangeError('too far'), { code: 'E_FAR' }) });
  t.match(err, { type: 'RangeError', message: 'too far', code: 'E_FAR', stack: /messages\.test/ });
});
