// PURE types. What the parts of one simulator share.
import type { CallOptions } from './call-settings.ts';
import type { CallView } from './call-view.ts';
import type { Clips } from './clips.ts';
import type { Clock } from './clock.ts';
import type { EventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import type { Hooks } from './hooks.ts';
import type { Pump } from './link.ts';
import type { NumberBook } from './numbers.ts';
import type { CalleeScript, Options } from './options.ts';
import type { Random } from './random.ts';
import type { ClipFrame } from './sound.ts';

export interface World {
  options: Options;
  clock: Clock;
  clips: Clips;
  silence: ClipFrame[];
  hooks: Hooks;
  pump: Pump;
  events: EventLog;
  faults: Faults;
  numbers: NumberBook;
  newCall(options: CallOptions): CallView;
  /** Each call has its own sequence, so that one call's course does not depend on another's. */
  nextRandom(): Random;
  /** Runs later, unless the simulator is closed first. Answers how to cancel. */
  after(ms: number, action: () => void): () => void;
  /** What close() waits for: files being finished. */
  settle(work: Promise<unknown>): void;
  /** Who answers this number. */
  calleeOf(phoneNumber: string): CalleeScript;
}
