// What a media thread and the control thread tell each other of connections on the public port which the first accepts and
// the second answers. Of calls: protocol/messages.ts.

/** A connection's ends, as its socket knows them. */
export interface ConnectionEnds {
  remoteAddress: string;
  remotePort: number | undefined;
  localAddress: string | undefined;
  localPort: number | undefined;
}

/** Of the media thread. `id`: of a connection, by its thread. */
export type FromListener =
  | { type: 'opened'; id: number; ends: ConnectionEnds }
  /** After these no more are read until they are asked for. */
  | { type: 'data'; id: number; bytes: Uint8Array<ArrayBuffer> }
  /** Bytes of the last `send` have left; `all` of them. */
  | { type: 'written'; id: number; all: boolean }
  /** The client has sent all it will. */
  | { type: 'ended'; id: number }
  /** It is gone, or was a stream's and is no longer the control thread's. */
  | { type: 'closed'; id: number }
  /** The thread listens no longer. */
  | { type: 'left' };

/** Of the control thread. */
export type ToListener =
  /** The next comes when all of it has left. */
  | { type: 'send'; id: number; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'more'; id: number }
  /** Nothing more will be sent. */
  | { type: 'end'; id: number }
  | { type: 'close'; id: number }
  /** Listen no longer. */
  | { type: 'leave' };
