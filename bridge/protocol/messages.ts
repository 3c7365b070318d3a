// What the control side and a media side tell each other. PURE. Plain data only, which JSON leaves as it is: no buffers, no
// functions, no instances of classes, no undefined. Nothing per frame.
import type { VadModelName } from '../../audio/vad/models.ts';
import type { ModelConfig, TurnDetection, Usage } from '../models/model.ts';
import type { ShortWords, SpokenLine, TalkTexts } from './agent-texts.ts';
import type { FaultCode, HangupCause } from './call-reasons.ts';

/** Of these messages. Whoever starts with another version is refused: it rises when a message changes its meaning. */
export const MEDIA_PROTOCOL = 8;

/** Anything that JSON leaves as it is. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [field: string]: Plain };

/** Start-up data of a media thread. Media threads read neither the environment nor the database. */
export interface MediaThreadData {
  /** MEDIA_PROTOCOL of who starts it. */
  protocol: number;
  /** Of the daemon: streams of other daemons' calls have other paths. */
  epoch: number;
  thread: number;
  /** Loopback port to listen on; 0 for any. */
  port: number;
  /** The public one, on which it listens in place of the control thread; null: it does not. */
  publicPort: { host: string; port: number; fd?: number | undefined } | null;
  /** By carrier: what its media upgrades are verified with. Upgrades of other carriers are refused. */
  carrierSecrets: Record<string, string>;
  publicUrl: string;
  logLevel: string;
  callerIdleSeconds: number;
  turnDetection: TurnDetection;
  /** Whether the model is asked when the caller pauses, before his turn is over. */
  earlyAnswers: boolean;
  modelSessionSeconds: number;
  vadModel: VadModelName;
}

/** Who answered. `machine`: a greeting is being spoken; `machine_ready`: it has ended, speak now. */
export type MachineVerdict = 'human' | 'machine' | 'machine_ready' | 'fax' | 'unknown';

/**
 * What became of a short word over the agent's voice when its words had come: it `stopped` the agent; it was an assent, and the
 * agent went on (`go-on`); there was no word in it (`nothing`); it came too `late` to stop anything.
 */
export type ShortWordEnd = 'stopped' | 'go-on' | 'nothing' | 'late';

export type FloorHolder = 'agent' | 'caller' | 'none';

/** How the agent's voicemail action applies while the verdict is open. */
export type MachinePlan = 'none' | 'hangup' | 'leave_message';

/** How an agent takes turns, in words; what each moves is bridge/turns/tuning.ts. `normal` is what is measured in docs/quality.md. */
export interface Tuning {
  /** How long it waits where the caller may not have finished. */
  patience: 'short' | 'normal' | 'long';
  /** How soon it answers once he has. */
  eagerness: 'relaxed' | 'normal' | 'eager';
  /** How much speech over its voice stops it: the easier, the less. */
  interruption: 'hard' | 'normal' | 'easy';
}

export interface PrepareCall {
  callId: string;
  /** Whose stream it is. */
  carrier: string;
  /** SHA-256 (hex) of the one-time token that the stream must bring. */
  tokenHash: string;
  direction: 'inbound' | 'outbound';
  modelName: string;
  /** What the line takes, the media thread knows by its carrier. */
  model: Omit<ModelConfig, 'line'>;
  texts: TalkTexts;
  /** Said before all else, and before a message; nothing interrupts it. Null: there is nothing to be said, or it was heard. */
  disclosure: string | null;
  /** The other side has a number, and may ask that it is not called again. */
  mayOptOut: boolean;
  /** What tells a short word that stops the agent from one of assent. */
  shortWords: ShortWords;
  machine: MachinePlan;
  /** How many times longer than usual the agent waits for the other side to say something; who types needs more. */
  patience: number;
  tuning: Tuning;
  /** Transfer targets by the name the model uses. */
  transferTargets: Record<string, string>;
  /** Absolute path, or null when the call is not recorded. */
  recordingPath: string | null;
  /** Wall-clock limit, from the start of the stream. */
  maxSeconds: number;
  /** Null: the call begins. Else another had it, whose thread or process has died, and it goes on here. */
  resumed: Resumed | null;
}

/** What was known of a call that goes on somewhere else. Its times count from its first stream's start, as before. */
export interface Resumed {
  /** Milliseconds from the first stream's start until now. */
  elapsedMs: number;
  /** When its sound was lost. */
  lostAtMs: number;
  /** What was said, oldest first: of the agent, what was heard. */
  talk: readonly { role: 'agent' | 'caller' | 'tool' | 'system'; text: string }[];
  /** Tools that had been called and not answered: nobody knows what they did. */
  unfinishedTools: readonly { name: string; argumentsJson: string }[];
}

/** The line that is said before all else, and how much of it was heard. Times count from the first stream's start. */
export interface Disclosure {
  text: string;
  heardText: string;
  heardMs: number;
  startedMs: number | null;
  endedMs: number | null;
  /** All of it was heard, word for word. */
  complete: boolean;
}

/** What a media thread ends a call by. */
export type EndReason = Extract<
  HangupCause,
  | 'agent_ended'
  | 'caller_silent'
  | 'voicemail'
  | 'fax'
  | 'transferred'
  | 'hangup_requested'
  | 'max_duration'
  | 'credit_exhausted'
  | 'draining'
  | 'stream_lost'
  | 'model_failed'
  | 'model_silent'
  | 'stalled'
  | 'thread_lost'
>;

export type ToMedia =
  | ({ type: 'prepare' } & PrepareCall)
  /** Another stream of the same call will come, with a new token (after key tones). */
  | { type: 'expect-stream'; callId: string; tokenHash: string }
  | { type: 'machine-detection'; callId: string; verdict: MachineVerdict }
  | { type: 'tool-result'; callId: string; toolCallId: string; output: string }
  /** End the talk: at once, or after the agent has said a closing line. */
  | { type: 'finish'; callId: string; reason: EndReason; say: string | null }
  /** The disk is nearly full: the recording ends here, the call goes on. */
  | { type: 'stop-recording'; callId: string }
  /** The call has ended at the carrier, or never came to life: let go of everything. */
  | { type: 'release'; callId: string }
  | { type: 'stop' };

export interface TranscriptUpdate {
  id: string;
  role: 'agent' | 'caller' | 'tool' | 'system';
  text: string;
  heardText: string;
  interrupted: boolean;
  /** Milliseconds since the media stream's start. */
  startMs: number;
  endMs: number | null;
}

/** The moments of one answer, in milliseconds since the media stream's start; null where it did not come to that. */
export interface TurnTimes {
  kind: 'greeting' | 'answer' | 'prompt';
  /** Null where no speech was answered: keys pressed, a tool's answer, a prompt. */
  speechEndMs: number | null;
  /** When the answer was wanted. */
  decidedMs: number;
  /**
   * When the model was asked: later than `decidedMs` while its session is not there, or another response runs; before it where
   * the answer was begun early, in the caller's pause.
   */
  requestedMs: number | null;
  firstModelAudioMs: number | null;
  firstSentMs: number | null;
  firstHeardMs: number | null;
  bargedIn: boolean;
  /** Answers begun early that were thrown away before this one: the caller went on, or was gone. */
  thrownAway: number;
}

/** What a call used, and in it what answers used that were thrown away unheard. */
export interface CallUsage extends Usage {
  thrown_away_input_tokens: number;
  thrown_away_output_tokens: number;
}

export interface CallStats {
  framesIn: number;
  framesOut: number;
  filledMs: number;
  duplicateFrames: number;
  lateFrames: number;
  malformedMessages: number;
  bargeIns: number;
  /** Holds of the agent's voice that were taken back, and those of them in which it paused. */
  falseBargeIns: number;
  falsePauses: number;
  /** Answers that the model was asked for before the caller's turn was over, and those of them thrown away unheard. */
  earlyAnswers: number;
  thrownAwayAnswers: number;
  recordingFrames: number;
  recordingDropped: number;
  /** The worst lateness of the thread's clock during the call: what times of it may be off by. */
  lateTickMs: number;
}

/** What a thread's own V8 holds, in bytes. Memory of native libraries shows in the process's resident set alone. */
export interface ThreadMemory {
  heapUsed: number;
  heapTotal: number;
  /** Held outside the heap for its objects; array buffers are in it. */
  external: number;
  arrayBuffers: number;
}

/** A tool that the model calls. `atMs` since the media stream's start. */
export interface ToolCall {
  toolCallId: string;
  name: string;
  argumentsJson: string;
  atMs: number;
}

/** A thread's account of its last second. */
export interface ThreadLoad {
  calls: number;
  /** How late it came to what waited for it, beyond the sleep of its rounds, over the last second; in milliseconds. */
  loopDelayP99Ms: number;
  loopDelayMaxMs: number;
  /** How late the 20 ms clock ran at worst, in milliseconds. */
  tickLateMaxMs: number;
  /** Its ticks that were left out after a stall, over the last second. */
  skippedTicks: number;
  /** How much later than the quickest of their stream frames were worked on, rounds included; null when none came. */
  frameAgeP50Ms: number | null;
  frameAgeP99Ms: number | null;
  /** All since the start. */
  framesIn: number;
  /** Worked on 20 ms or more after the quickest of their stream. */
  framesLate: number;
  framesOut: number;
  vadWindows: number;
  memory: ThreadMemory;
  /** Media sockets refused since the last report, by reason. */
  refused: Readonly<Record<string, number>>;
}

/** Why a stream is gone: its socket was closed; or nothing came or was taken any more, and we closed it. */
export type StreamLoss = 'closed' | 'media_timeout' | 'carrier_backpressure';

/** What a media side tells of a call. */
export type CallMessage =
  | { type: 'model-ready'; callId: string; tookMs: number }
  /** `atMs`: since the first stream's start; 0 for that one. */
  | {
      type: 'media-started';
      callId: string;
      streamId: string;
      carrierCallId: string;
      at: string;
      atMs: number;
    }
  /** The stream is gone: `stopped` by the carrier, which will tell why, or `lost` without a word. `atMs`: when the line was last heard. */
  | { type: 'stream-ended'; callId: string; how: 'stopped' | 'lost'; why: StreamLoss; atMs: number }
  /** The call is being looked after, frame by frame: told every few seconds, so that one that is not is known. */
  | { type: 'alive'; callId: string }
  | { type: 'floor'; callId: string; floor: FloorHolder; atMs: number }
  | { type: 'transcript'; callId: string; items: TranscriptUpdate[] }
  /**
   * The other side asks not to be called again: by its words, or as the agent understood it. `itemId`: of the transcript, null where
   * nothing was said; `atMs`: when that was.
   */
  | {
      type: 'opted-out';
      callId: string;
      by: 'words' | 'tool';
      text: string;
      itemId: string | null;
      atMs: number;
    }
  /** One word more of it was heard, or what became of it is known. */
  | { type: 'disclosure'; callId: string; disclosure: Disclosure }
  | { type: 'turn'; callId: string; times: TurnTimes }
  /**
   * The caller cut the agent short. `onsetMs`: where his speech began; `heldMs`: when the voice was lowered; `pausedMs`: when it
   * was paused, null: it was not before; `silencedMs`: when its last sample was heard, by the carrier's marks, or `atMs` where the clear cut it. Null: not by speech.
   */
  | {
      type: 'barge-in';
      callId: string;
      atMs: number;
      onsetMs: number | null;
      heldMs: number | null;
      pausedMs: number | null;
      silencedMs: number;
    }
  /**
   * Sound over the agent's voice lowered it at `heldMs`, paused it at `pausedMs` (null: it did not), and was nothing: it is as
   * it was from `resumedMs` on, with the next sample.
   */
  | {
      type: 'hold-taken-back';
      callId: string;
      onsetMs: number;
      heldMs: number;
      pausedMs: number | null;
      resumedMs: number;
    }
  | { type: 'short-word'; callId: string; became: ShortWordEnd }
  | ({ type: 'tool-called'; callId: string } & ToolCall)
  | { type: 'usage'; callId: string; usage: Partial<CallUsage> }
  /** Everything said was heard: play key tones, or hand the line over. The tool is answered when the stream is back. */
  | { type: 'digits-requested'; callId: string; toolCallId: string; digits: string }
  | { type: 'transfer-requested'; callId: string; toolCallId: string; target: string; number: string }
  /** The conversation is over and everything said was heard, or cannot be any more: hang up. */
  | {
      type: 'finished';
      callId: string;
      reason: EndReason;
      errorCode: FaultCode | null;
      errorMessage: string | null;
      /** What the carrier's own voice is to say; null: nobody would hear it. */
      speak: SpokenLine | null;
    }
  /** Everything of the call is closed; the last message about it. */
  | { type: 'released'; callId: string; stats: CallStats; recording: { frames: number } | null };

export type FromMedia =
  | CallMessage
  /** The first message. `protocol`: MEDIA_PROTOCOL of who sends it. */
  | {
      type: 'listening';
      protocol: number;
      port: number;
      /** On the public port too. */
      isPublic: boolean;
      /** The descriptor that it listens there by, where that is known. */
      publicFd: number | null;
    }
  | ({ type: 'load' } & ThreadLoad)
  | {
      type: 'log';
      level: 'debug' | 'info' | 'warn' | 'error';
      event: string;
      fields: Record<string, Plain>;
    };
