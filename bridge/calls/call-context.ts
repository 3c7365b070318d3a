// What every call of this daemon needs of it: the store, the carriers, the media threads, the clocks and the settings.
import type { Log } from '../../log.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import type { Carrier } from '../carriers/carrier.ts';
import type { ModelAccess } from '../models/setup.ts';
import type { CallObserver } from './call-observers.ts';
import type { AgentTexts } from './call-plan.ts';
import type { RunTool } from './calls.ts';
import type { MediaThreads } from './media-threads.ts';
import type { TranscriptLog } from './transcript-log.ts';
import type { TurnLog } from './turn-log.ts';

export interface CallSettings {
  publicUrl: string;
  dataDir: string;
  recordCalls: boolean;
  maxSeconds: number;
  ringSeconds: number;
  /** Milli-cents a connected minute. */
  pricePerMinute: number;
  reserveMinutes: number;
}

/** What calls need of the media threads. */
export type CallThreads = Pick<
  MediaThreads,
  'admits' | 'assign' | 'post' | 'ready' | 'threadOf' | 'unassign'
>;

export interface CallContext extends CallSettings {
  store: Store;
  log: Log;
  now: () => Date;
  /** Of a clock that only goes forward: what lasts is measured by it. */
  monotonicMs: () => number;
  carrierOf(name: string): Carrier;
  /** Null while they are not there yet. */
  threads(): CallThreads | null;
  texts: AgentTexts;
  /** How the model of a call is reached. */
  access(call: Pick<CallRecord, 'model'>): ModelAccess;
  runTool: RunTool;
  transcripts: TranscriptLog;
  turnLog: TurnLog;
  /** The disk has too little left for new calls and for recordings; without it, it always has enough. */
  storageLow?: () => boolean;
  /** Makes the parts of a call's recording one. Never rejects: what cannot be joined is told to the log, and tried again. */
  joinRecording(call: CallRecord): Promise<void>;
  /** The call has been over for so long, and its transcript is final. */
  settleResult(callId: string, endedMsAgo: number): void;
  /** The call is over, has no result to settle, and all of its usage is stored. */
  settleCost(callId: string): void;
  observer: CallObserver;
  /** Waits before the carrier is asked again, and does not keep the process. */
  pause(ms: number): Promise<void>;
  /** A named place at which chaos tests kill the process. */
  failpoint(name: string): void;
}
