// What routes work with: given once, when the application is put together.

import type { Readable } from 'node:stream';
import type { SpeechModels } from '../../bridge/calls/call-plan.ts';
import type { Calls } from '../../bridge/calls/calls.ts';
import type { Carriers } from '../../bridge/carriers/registry.ts';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import type { RecentLog } from '../../recent-log.ts';
import type { Store } from '../../storage/store.ts';
import type { StrangerLog } from '../../stranger-log.ts';
import type { Alerts } from '../alerts/alerts.ts';
import type { Egress } from '../egress/egress.ts';
import type { LineHealth } from '../health/line-health.ts';

/** What the routes work with. */
export interface ControlParts {
  store: Store;
  calls: Calls;
  /** Told when a campaign has changed. */
  campaigns: { wake(): void };
  carriers: Pick<Carriers, 'all' | 'named' | 'ofPages' | 'seller'>;
  egress: Pick<Egress, 'check' | 'request'>;
  config: Config;
  models: SpeechModels;
  log: Log;
  /** Told of what somebody does who has shown no key and no session. */
  strangers: Pick<StrangerLog, 'saw'>;
  now: () => Date;
  /** Of a clock that only goes forward: limits and waits are measured by it. */
  monotonicMs: () => number;
  /** How the line stands, and how calls went on it. */
  health: Pick<LineHealth, 'of'>;
  alerts: Pick<Alerts, 'canMail' | 'read' | 'test' | 'lookSoon'>;
  /** Recordings in other shapes than they are kept in. */
  openRecording: OpenRecording;
  /** The newest lines of the log. */
  recentLog: RecentLog;
  keeper: Keeper;
}

/** Carries out erasures, and what the rules ask for of how long what is kept. */
export interface Keeper {
  /** Resolves when an erasure that was begun is done, or the time is over. */
  done(erasureId: string, forMs: number): Promise<void>;
  /** Looks through the calls soon. */
  sweep(): void;
}

export interface RecordingShape {
  channels: 'stereo' | 'mono' | 'caller' | 'agent';
  rateHz: 8000 | 16000;
}

/** Opens a recording in another shape than it is kept in; `damaged` where it is none. Rejects as the file system does. */
export type OpenRecording = (
  file: string,
  shape: RecordingShape,
) => Promise<{ bytes: number; sound: Readable } | 'damaged'>;
