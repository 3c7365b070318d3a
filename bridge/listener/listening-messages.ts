// What the listening thread and the control thread tell each other, beside the connections that the first hands over
// (handed-messages.ts). Nothing per frame.
import type { ListenAddress } from '../listening.ts';
import type { ThreadMemory } from '../protocol/messages.ts';

/** Start-up data of the listening thread. It reads neither the environment nor the database. */
export interface ListeningThreadData {
  address: ListenAddress;
  /** Of the daemon: streams of other daemons' calls have other paths. */
  epoch: number;
  /** By carrier: what its media upgrades are verified with. */
  carrierSecrets: Record<string, string>;
  publicUrl: string;
}

/** Where a call lives: the media thread, and where that listens. */
export interface Placement {
  callId: string;
  thread: number;
  port: number;
}

export type ToListening =
  /** Told before anybody hears of the address of the call's stream. */
  | ({ type: 'placed' } & Placement)
  /** These calls live nowhere any more. */
  | { type: 'gone'; callIds: readonly string[] }
  | { type: 'stop' };

/** Its account of its last second. */
export interface ListeningLoad {
  /** Streams that it joins. */
  streams: number;
  /** How late it came to what waited for it, in milliseconds. */
  loopDelayP99Ms: number;
  loopDelayMaxMs: number;
  memory: ThreadMemory;
}

export type FromListening =
  /** The first message: it listens, by this descriptor where that is known. */
  { type: 'listening'; fd: number | null } | ({ type: 'load' } & ListeningLoad);
