// What the bridge needs of a speech model. PURE types.
// A model is a session (socket, renewal, retry) and a PURE wire (its events); a line in models.ts names it. What sessions
// differ in is told by their formats and capabilities, and asked where it matters, never by their name.
import type { AudioFormat } from '../../audio/format.ts';
import type { SessionTexts } from '../protocol/agent-texts.ts';
import type { Fault } from '../protocol/call-reasons.ts';

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

/** Something of a conversation that another session has had. Of the agent, what was heard. */
export type HistoryLine =
  | { role: 'agent' | 'caller' | 'system'; text: string }
  | { role: 'tool'; name: string; argumentsJson: string; output: string };

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
  /** What was said before, oldest first: the session is told it before anything else, and answers none of it by itself. */
  history?: readonly HistoryLine[];
  /** What the line takes and brings: of the formats that a session can have it chooses the nearest. */
  line: AudioFormat;
}

export type TurnDetection = 'local' | 'server_vad' | 'semantic_vad';

export interface ModelCapabilities {
  /**
   * Who tells the caller's turns. `bridge`: it is given the caller's sound while the caller has the floor, and `endTurn` ends
   * it. `model`: it is given all sound, silence too, and tells by `callerSpeech`.
   */
  turns: 'bridge' | 'model';
  /** Sound counts when its turn is ended; what was given before can be taken back by `clearAudio`. Else it has been heard. */
  commits: boolean;
  /** A turn that was ended, and a tool's result, are answered without being asked; else `respond` asks. */
  answersByItself: boolean;
  /** `interrupt` takes what was not heard out of what the model believes it has said; else it is told what was heard. */
  truncates: boolean;
  /** A turn that was ended can be taken back, with what was answered to it and nobody heard; else none is answered early. */
  takesBack: boolean;
  /** `say` speaks a given line word for word; else, and in another language, it is asked to, by `respond`. */
  saysLines: boolean;
  /** Calls tools while it talks. */
  callsTools: boolean;
  /** Writes down the words of each turn; else `callerText` brings none. */
  transcribes: boolean;
}

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

/** What tokens were used for: a response, one that was taken back, or the caller's words in writing. */
export type UsageOf = 'answer' | 'taken-back' | 'words';

/** What was asked for before the caller's turn was sure to be over. */
export interface EarlyAnswer {
  turn: number;
  itemIds: readonly string[];
  toolCallIds: readonly string[];
}

/** What the other side knows was played of an item that is being cut. */
export interface CutItem {
  itemId: string;
  /** Milliseconds heard, never more than received. 0: nothing of it was heard. */
  heardMs: number;
  heardText: string;
}

/**
 * What a session tells the talk. Nothing arrives after `failed` or `close`, nothing from within a verb, and no late audio of
 * an interrupted response. An item is one stretch of the agent's speech; the session names it.
 */
export interface ModelListener {
  /** The configuration is in force; audio may flow. `renewed` on a session that replaced another. */
  ready(info: { renewed: boolean; tookMs: number }): void;
  /** In the format that the session gives, any length, valid only during the call. */
  audio(itemId: string, payload: Buffer): void;
  /** The item's audio is complete: nothing more of it comes. */
  audioDone(itemId: string): void;
  text(itemId: string, delta: string): void;
  /** The whole text of the item. */
  textDone(itemId: string, text: string): void;
  /** The caller's words of a turn: none, ''; null when they could not be made out. `turn` is endTurn's answer. */
  callerText(turn: number, text: string | null): void;
  /**
   * Where the model tells the turns: the caller's speech has begun or is over. `agoMs`: how long before the newest audio
   * given. An end is the end of a turn: `endTurn` then takes what the model has heard as one.
   */
  callerSpeech(what: 'started' | 'stopped', agoMs: number): void;
  /** Run the tool, then answer by sendToolResult. `argumentsJson` is untrusted. */
  toolCall(call: { toolCallId: string; name: string; argumentsJson: string }): void;
  /** A response was asked for on the session; what was asked of a lost session is asked again. */
  requested(): void;
  /** One response has ended in whatever way; `hadAudio` and `toolCalls` tell what it gave. */
  responseDone(end: ResponseEnd): void;
  usage(usage: Partial<Usage>, of: UsageOf): void;
  /** The socket was lost and a new session is being made; what was said is re-told to it. */
  reconnecting(why: string): void;
  /** The session is gone for good. `code`: model_unreachable, model_refused, model_lost, model_error. */
  failed(failure: Fault): void;
}

export interface ResponseEnd {
  responseId: string;
  status: 'completed' | 'cancelled' | 'incomplete' | 'failed';
  reason: string | null;
  hadAudio: boolean;
  toolCalls: number;
}

export interface ModelSession {
  readonly capabilities: ModelCapabilities;
  /** What `appendAudio` is given. */
  readonly takes: AudioFormat;
  /** What `audio` brings. */
  readonly gives: AudioFormat;
  /** Dials and configures. Called once. */
  open(): void;
  /** The caller's sound, any length. Dropped, and counted, before `ready`. */
  appendAudio(payload: Buffer): void;
  /** Where it `commits`: forgets audio appended since the last turn ended. */
  clearAudio(): void;
  /**
   * Ends the caller's turn. Answers its number (from 0), or null when too little was appended to be one: nothing was said.
   * `mayGoOn`, where it `takesBack`: he has paused, and until `clearAudio` or the next end it can be taken back.
   */
  endTurn(o?: { mayGoOn: boolean }): number | null;
  /**
   * Asks for an answer; waits until no other response runs. `instructions` hold for this one response, beside the session's.
   * Asking again while one waits changes nothing.
   */
  respond(o?: { instructions?: string }): void;
  /** Where it `saysLines`: speaks this, word for word, as a response. Waits as `respond` does. */
  say(line: string): void;
  /** Drops the running and the waiting response; where it `truncates`, cuts what was not heard, oldest item first. */
  interrupt(cut: readonly CutItem[]): void;
  /**
   * Where it `takesBack`: the caller goes on. His turn is open again, with what was appended since; the running and the waiting
   * response are dropped, and what has come of them is taken out of the conversation: items, of which nothing was heard, and
   * calls of tools, of which none was run.
   */
  takeBack(answer: EarlyAnswer): void;
  /** Adds a line to the conversation that nobody spoke: role `system`, or `user` for keys pressed. */
  addText(role: 'system' | 'user', text: string): void;
  /** The tool's answer; unless it `answersByItself`, the response that follows is to be asked for. */
  sendToolResult(toolCallId: string, output: string): void;
  /** True while a response runs or waits. */
  busy(): boolean;
  /** Nothing is told after it was called. Safe to call twice. */
  close(): Promise<void>;
}
