// What the bridge needs of a realtime speech model. PURE types.
// A model is a session (socket, renewal, retry) and a PURE wire (its events); a line in models.ts names it.
import type { SessionTexts } from '../protocol/agent-texts.ts';
import type { Fault } from '../protocol/call-reasons.ts';

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface ModelConfig {
  url: string;
  apiKey: string;
  model: string;
  transcriptionModel: string | null;
  instructions: string;
  voice: string;
  /** ISO-639-1 of the transcription, or null to let it find out. */
  language: string | null;
  tools: readonly ModelTool[];
  texts: SessionTexts;
  /** Who tells the caller's turns: we (the default), or the model's server by loudness or by meaning. It never answers by itself. */
  turnDetection?: TurnDetection;
}

export type TurnDetection = 'local' | 'server_vad' | 'semantic_vad';

export interface Usage {
  input_text_tokens: number;
  input_audio_tokens: number;
  cached_text_tokens: number;
  cached_audio_tokens: number;
  output_text_tokens: number;
  output_audio_tokens: number;
  transcription_seconds: number;
  transcription_tokens: number;
}

/** What the other side knows was played of an item that is being cut. */
export interface CutItem {
  itemId: string;
  /** Milliseconds heard, never more than received. 0: nothing of it was heard. */
  heardMs: number;
  heardText: string;
}

/** What a session tells the conversation. Nothing arrives after `closed`. Late audio of a cancelled response never does. */
export interface ModelListener {
  /** The configuration is in force; audio may flow. `renewed` on a session that replaced another. */
  ready(info: { renewed: boolean; tookMs: number }): void;
  /** mu-law 8 kHz, any length, valid only during the call. */
  audio(itemId: string, payload: Buffer): void;
  /** The item's audio is complete: nothing more of it comes. */
  audioDone(itemId: string): void;
  text(itemId: string, delta: string): void;
  /** The whole text of the item. */
  textDone(itemId: string, text: string): void;
  /** The caller's words of a committed turn; `text` null when they could not be made out. `turn` is commitTurn's answer. */
  callerText(turn: number, text: string | null): void;
  /**
   * Where the server tells the turns: the caller's speech has begun or is over. `agoMs`: how long before the newest audio
   * given. An end is the end of a turn: `commitTurn` then takes what the server has committed.
   */
  callerSpeech(what: 'started' | 'stopped', agoMs: number): void;
  /** Run the tool, then answer by sendToolResult. `argumentsJson` is untrusted. */
  toolCall(call: { toolCallId: string; name: string; argumentsJson: string }): void;
  /** A response was asked for on the session; what was asked of a lost session is asked again. */
  requested(): void;
  responseStarted(responseId: string): void;
  /** One response has ended in whatever way; `hadAudio` and `toolCalls` tell what it gave. */
  responseDone(end: {
    responseId: string;
    status: 'completed' | 'cancelled' | 'incomplete' | 'failed';
    reason: string | null;
    hadAudio: boolean;
    toolCalls: number;
  }): void;
  usage(usage: Partial<Usage>): void;
  /** The socket was lost and a new session is being made; what was said is re-told to it. */
  reconnecting(why: string): void;
  /** The session is gone for good. `code`: model_unreachable, model_refused, model_lost, model_error. */
  failed(failure: Fault): void;
}

export interface ModelSession {
  readonly capabilities: {
    /** Takes and gives mu-law as it is. */
    mulaw: boolean;
    truncates: boolean;
  };
  /** Dials and configures. Called once. */
  open(): void;
  /** mu-law 8 kHz of the caller. Dropped, and counted, before `ready`. */
  appendAudio(payload: Buffer): void;
  /** Forgets audio appended since the last commit. */
  clearAudio(): void;
  /** Ends the caller's turn. Answers its number (from 0), or null when under 100 ms was appended and nothing is committed. */
  commitTurn(): number | null;
  /**
   * Asks for an answer; waits until no other response runs. `instructions` hold for this one response, beside the session's.
   * Asking again while one waits changes nothing.
   */
  respond(o?: { instructions?: string }): void;
  /** Drops the running and the waiting response; cuts what was not heard, oldest item first. */
  interrupt(cut: readonly CutItem[]): void;
  /** Adds a line to the conversation that nobody spoke: role `system`, or `user` for keys pressed. */
  addText(role: 'system' | 'user', text: string): void;
  /** The tool's answer; the response that follows is the caller's to ask for. */
  sendToolResult(toolCallId: string, output: string): void;
  /** Seconds since the session in force was opened. */
  ageSeconds(): number;
  /** Opens a new session in the background and moves over once it is configured; only between turns. */
  renew(): void;
  /** True while a response runs or waits. */
  busy(): boolean;
  close(): Promise<void>;
}
