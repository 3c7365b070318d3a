// PURE types. A call as its document, its requests and its other half see it: what call.ts is to them.
import type { CallOptions, CallSettings, CallStatus, Ending } from './call-settings.ts';
import type { HookAnswer, HookRequest } from './hooks.ts';
import type { Leg } from './leg.ts';
import type { MediaStream } from './media-stream.ts';
import type { Network } from './options.ts';
import type { Random } from './random.ts';
import type { Violation } from './stream-report.ts';

/** The carrier's requests about the call (call-requests.ts). */
export interface Requests {
  /** Identity and geography: what every request about this call carries. */
  parameters(): Record<string, string>;
  /** Sends a signed request and answers what came back. */
  send(request: Omit<HookRequest, 'callSid'>): Promise<HookAnswer>;
  /** A callback nobody waits for. */
  callback(request: Omit<HookRequest, 'callSid'>): void;
}

export interface CallView {
  readonly sid: string;
  readonly options: CallOptions;
  readonly settings: CallSettings;
  readonly status: CallStatus;
  readonly network: Network;
  readonly random: Random;
  /** The number at the other end. */
  readonly number: string;
  readonly leg: Leg | null;
  readonly answeredAt: number | null;
  readonly isEnded: boolean;
  readonly requests: Requests;
  /** True when it was picked up, false when it ended before. */
  readonly answered: Promise<boolean>;
  readonly ended: Promise<Ending>;
  /** What its documents did: streams opened, words spoken, keys pressed, documents run. */
  readonly streams: MediaStream[];
  readonly spoken: string[];
  digitsHeard: string;
  readonly documents: { atMs: number; source: string; twiml: string }[];
  /** What the carrier would write to its debugger. */
  readonly errors: Violation[];
  /** ms since the call was created */
  nowMs(): number;
  durationSeconds(): number | null;
  fail(code: number, message: string): void;
  prepare(): Promise<void>;
  dial(queueMs: number): void;
  answer(): void;
  /** Runs a document for who is called, before the two hear each other. Answers false when the call ended meanwhile. */
  whisper(url: string, method: 'GET' | 'POST'): Promise<boolean>;
  end(ending: Ending): void;
}
