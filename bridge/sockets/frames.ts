// PURE. The frames of a websocket (RFC 6455, section 5.2): where one that comes ends, and one that goes, written once.

const FIN = 0x80;
const MASKED = 0x80;
const TEXT = 0x1;
const BINARY = 0x2;
const LENGTH = 0x7f;
/** Lengths that say how the real one follows. */
const TWO_BYTES = 126;
const EIGHT_BYTES = 127;

/** A whole message of text, a whole one of bytes, or what is neither, by its first byte. Reserved bits make it neither. */
export function wholeMessage(first: number): 'text' | 'binary' | null {
  if (first === (FIN | TEXT)) return 'text';
  return first === (FIN | BINARY) ? 'binary' : null;
}

/** Whether the frame ends, begins or goes on with a message that comes in parts; null for a frame of control. */
export function isLast(first: number): boolean | null {
  return (first & 0x08) !== 0 ? null : (first & FIN) !== 0;
}

export function isMasked(second: number): boolean {
  return (second & MASKED) !== 0;
}

/** Bytes before the payload, by the frame's second byte. */
export function headerBytes(second: number): number {
  const length = second & LENGTH;
  return 2 + (length === TWO_BYTES ? 2 : length === EIGHT_BYTES ? 8 : 0) + (isMasked(second) ? 4 : 0);
}

/** Bytes of the payload of the frame that begins at `at`; its header is there. */
export function payloadBytes(data: Buffer, at: number): number {
  const length = data[at + 1]! & LENGTH;
  if (length === TWO_BYTES) return data.readUInt16BE(at + 2);
  if (length === EIGHT_BYTES) return data.readUInt32BE(at + 2) * 2 ** 32 + data.readUInt32BE(at + 6);
  return length;
}

/** Takes the mask off in place; it stands before the payload. */
export function unmask(data: Buffer, from: number, to: number): void {
  const a = data[from - 4]!;
  const b = data[from - 3]!;
  const c = data[from - 2]!;
  const d = data[from - 1]!;
  if ((a | b | c | d) === 0) return;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    data[at]! ^= a;
    data[at + 1]! ^= b;
    data[at + 2]! ^= c;
    data[at + 3]! ^= d;
  }
  if (at < to) data[at]! ^= a;
  if (at + 1 < to) data[at + 1]! ^= b;
  if (at + 2 < to) data[at + 2]! ^= c;
}

/** Where a payload begins in the writer: behind any header, and where four bytes are masked at once. */
const PAYLOAD_AT = 16;
const FIRST_BYTES = 4_096;
/** Room for a longer message is given back. */
const KEPT_BYTES = 65_536;
/** UTF-8 takes no more for one unit of a string. */
const MOST_BYTES_A_UNIT = 3;

/** A message on its way out. Each is begun by the one before being taken. */
export class FrameWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #words = new Int32Array(this.#bytes.buffer);
  #end = PAYLOAD_AT;
  #kind: typeof TEXT | typeof BINARY = TEXT;

  /** The message is one of bytes; else it is text. */
  binary(): this {
    this.#kind = BINARY;
    return this;
  }

  text(value: string): this {
    this.#need(value.length * MOST_BYTES_A_UNIT);
    this.#end += this.#bytes.write(value, this.#end, 'utf8');
    return this;
  }

  /** Bytes as base64. */
  base64(value: Buffer): this {
    const text = value.toString('base64');
    this.#need(text.length);
    this.#end += this.#bytes.write(text, this.#end, 'latin1');
    return this;
  }

  bytes(value: Uint8Array): this {
    this.#need(value.length);
    this.#bytes.set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  /** Big-endian. */
  uint32(value: number): this {
    this.#need(4);
    this.#end = this.#bytes.writeUInt32BE(value, this.#end);
    return this;
  }

  /**
   * The message as one frame, in memory of its own; the next one is begun.
   * @param mask 32 bits that nobody can guess, of a client's frame; null: a server's
   */
  take(mask: number | null): Buffer {
    const bytes = this.#bytes;
    const length = this.#end - PAYLOAD_AT;
    if (mask !== null) this.#mask(mask);
    const extended = length < TWO_BYTES ? 0 : length < 65_536 ? 2 : 8;
    const start = PAYLOAD_AT - 2 - extended - (mask === null ? 0 : 4);
    bytes[start] = FIN | this.#kind;
    bytes[start + 1] =
      (extended === 0 ? length : extended === 2 ? TWO_BYTES : EIGHT_BYTES) | (mask === null ? 0 : MASKED);
    if (extended === 2) bytes.writeUInt16BE(length, start + 2);
    else if (extended === 8) bytes.writeBigUInt64BE(BigInt(length), start + 2);
    const frame = Buffer.allocUnsafe(this.#end - start);
    bytes.copy(frame, 0, start, this.#end);
    this.drop();
    return frame;
  }

  /** Forgets what was written of the message. */
  drop(): void {
    this.#end = PAYLOAD_AT;
    this.#kind = TEXT;
    if (this.#bytes.length > KEPT_BYTES) this.#room(FIRST_BYTES);
  }

  /** The mask stands right before the payload; behind its end there is room for the rest of four bytes. */
  #mask(mask: number): void {
    const words = this.#words;
    const first = PAYLOAD_AT / 4;
    words[first - 1] = mask;
    const end = Math.ceil(this.#end / 4);
    for (let at = first; at < end; at++) words[at]! ^= mask;
  }

  #need(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const before = this.#bytes;
    // Whole words.
    this.#room(4 * Math.ceil((this.#end + more) / 2));
    before.copy(this.#bytes, 0, 0, this.#end);
  }

  #room(bytes: number): void {
    this.#bytes = Buffer.allocUnsafeSlow(bytes);
    this.#words = new Int32Array(this.#bytes.buffer);
  }
}
