// PURE. A mark inside the sound itself: in the lowest bits of a frame's first bytes, 70 dB below full scale where the line is
// silent. Says which call, which frame, and when it was sent; outlives every bridge that passes mu-law through.

/** Bytes that a tag takes. */
export const TAG_BYTES = 96;
const SYNC = 0b1011_0010_0111_0100_0110_1011;
const SYNC_BITS = 24;
const CALL_BITS = 12;
const SEQUENCE_BITS = 22;
const TIME_BITS = 30;
const CHECK_BITS = 8;
/** Times are in units of 10 us and wrap after three hours. */
const UNIT_MS = 0.01;

export interface Tag {
  call: number;
  sequence: number;
  /** The time it was written, as given, to 10 us. */
  atMs: number;
}

const checkOf = (call: number, sequence: number, time: number) =>
  (call ^
    (call >> 4) ^
    sequence ^
    (sequence >> 8) ^
    (sequence >> 16) ^
    time ^
    (time >> 8) ^
    (time >> 16) ^
    (time >> 24)) &
  0xff;

/** Writes a tag into `bytes` from `at` on. */
export function writeTag(bytes: Uint8Array, at: number, call: number, sequence: number, nowMs: number): void {
  const time = Math.floor(nowMs / UNIT_MS) % 2 ** TIME_BITS;
  let to = put(bytes, at, SYNC, SYNC_BITS);
  to = put(bytes, to, call, CALL_BITS);
  to = put(bytes, to, sequence, SEQUENCE_BITS);
  to = put(bytes, to, time, TIME_BITS);
  put(bytes, to, checkOf(call, sequence, time), CHECK_BITS);
}

/** The tag at `at`, or null when there is none. `nowMs` is near the time of its writing. */
export function readTag(bytes: Uint8Array, at: number, nowMs: number): Tag | null {
  if (at < 0 || at + TAG_BYTES > bytes.length) return null;
  for (let i = 0; i < SYNC_BITS; i++)
    if ((bytes[at + i]! & 1) !== ((SYNC >> (SYNC_BITS - 1 - i)) & 1)) return null;
  let from = at + SYNC_BITS;
  const call = get(bytes, from, CALL_BITS);
  from += CALL_BITS;
  const sequence = get(bytes, from, SEQUENCE_BITS);
  from += SEQUENCE_BITS;
  const time = get(bytes, from, TIME_BITS);
  from += TIME_BITS;
  if (get(bytes, from, CHECK_BITS) !== checkOf(call, sequence, time)) return null;
  const wrap = 2 ** TIME_BITS;
  const now = Math.floor(nowMs / UNIT_MS);
  const ago = (((now - time) % wrap) + wrap) % wrap;
  return { call, sequence, atMs: nowMs - (ago > wrap / 2 ? ago - wrap : ago) * UNIT_MS };
}

/** Where the first tag begins, or -1. */
export function findTag(bytes: Uint8Array): number {
  for (let at = 0; at + TAG_BYTES <= bytes.length; at++) if (readTag(bytes, at, 0) !== null) return at;
  return -1;
}

function put(bytes: Uint8Array, at: number, value: number, bits: number): number {
  for (let i = 0; i < bits; i++)
    bytes[at + i] = (bytes[at + i]! & 0xfe) | (Math.floor(value / 2 ** (bits - 1 - i)) & 1);
  return at + bits;
}

function get(bytes: Uint8Array, at: number, bits: number): number {
  let value = 0;
  for (let i = 0; i < bits; i++) value = value * 2 + (bytes[at + i]! & 1);
  return value;
}
