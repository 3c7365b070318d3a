// What goes over a call's media socket, and what a carrier's codec of it must do. PURE types.
import type { AudioFormat } from '../../audio/format.ts';
import type { FrameWriter } from '../sockets/frames.ts';

/** A media message of the carrier, decoded. `payload`: whole samples in the stream's format, valid until the next decode. */
export type MediaMessage =
  | { type: 'connected' }
  | {
      type: 'started';
      streamId: string;
      carrierCallId: string;
      /** What the stream brings of what it was offered with: `token` is among them. */
      parameters: Record<string, string>;
      /** What the caller's sound of this stream is in. */
      format: AudioFormat;
    }
  | { type: 'audio'; payload: Buffer; timestampMs: number; chunk: number }
  | { type: 'digit'; digit: string }
  /** Words typed by the other side, where a line has keys to type with (a call from a browser). */
  | { type: 'text'; text: string }
  /** Audio was played up to this mark. What was heard is known by nothing else: a carrier without marks cannot be used. */
  | { type: 'mark'; name: string }
  | { type: 'stopped' }
  | { type: 'ignored'; event: string }
  | { type: 'malformed'; why: string };

/** The codec of one media socket; no I/O. */
export interface MediaWire {
  /** A clear sends every pending mark back. Where it does not, they are never heard of again. */
  readonly clearReturnsMarks: boolean;
  /** Never throws: what cannot be read is `malformed`. */
  decode(data: Buffer, isBinary: boolean): MediaMessage;
  /** Writes a message of sound in the carrier's format (media.ts), whole frames of 20 ms; copied. */
  audio(message: FrameWriter, streamId: string, payload: Buffer): void;
  mark(message: FrameWriter, streamId: string, name: string): void;
  clear(message: FrameWriter, streamId: string): void;
}

/** Headers of an upgrade, by their names in lower case. */
interface UpgradeHeaders {
  readonly [name: string]: string | string[] | undefined;
  readonly origin?: string | undefined;
  readonly host?: string | undefined;
}

/** What a media thread must know of a carrier. */
export interface MediaCarrier {
  /** What its streams take the agent's sound in, and bring the caller's where a start does not say otherwise. */
  readonly format: AudioFormat;
  createWire(): MediaWire;
  /**
   * `url` is the stream's address to the letter, as the carrier was given it. Null: nothing shows whence an upgrade comes,
   * and its path must have the call's token.
   */
  readonly verifyUpgrade: ((o: { headers: UpgradeHeaders; url: string; secret: string }) => boolean) | null;
}
