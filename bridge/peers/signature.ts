// PURE. How a request from daemon to daemon is signed: by the secret of their folder, over whom it is for, what it asks and
// when, so that it is good for one daemon, once, for a moment.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Where the signature stands. */
export const PEER_HEADER = 'x-offhook-peer';
/** Both read one host's clock: only what waits between them takes time. */
export const WINDOW_MS = 30_000;

export interface PeerRequest {
  /** Epoch of the daemon that is asked. */
  to: number;
  method: string;
  /** With the query. */
  path: string;
  body: Uint8Array;
}

const HEADER = /^(\d{1,15})\.([0-9a-f]{32})\.([0-9a-f]{64})$/;

/** The header of a request. `nonce`: 32 hex digits, another for each. */
export function sign(secret: Buffer, request: PeerRequest, at: { nowMs: number; nonce: string }): string {
  const time = String(Math.floor(at.nowMs));
  return `${time}.${at.nonce}.${macOf(secret, request, time, at.nonce)}`;
}

/** The nonce of a request that is signed and of now; else what is wrong with it. Whether it came before is not known here. */
export function verify(
  secret: Buffer,
  request: PeerRequest,
  header: unknown,
  nowMs: number,
): { nonce: string } | { why: 'not signed' | 'wrong signature' | 'too old' } {
  const [, time = '', nonce = '', mac = ''] = (typeof header === 'string' && HEADER.exec(header)) || [];
  if (mac === '') return { why: 'not signed' };
  const expected = Buffer.from(macOf(secret, request, time, nonce), 'hex');
  if (!timingSafeEqual(expected, Buffer.from(mac, 'hex'))) return { why: 'wrong signature' };
  return Math.abs(nowMs - Number(time)) <= WINDOW_MS ? { nonce } : { why: 'too old' };
}

/** What the daemon of an epoch answers to whoever asks whether it is there: nobody else can. */
export function proofOf(secret: Buffer, epoch: number, nonce: string): string {
  return createHmac('sha256', secret).update(`offhook peer is here\n${epoch}\n${nonce}`).digest('hex');
}

function macOf(secret: Buffer, { to, method, path, body }: PeerRequest, time: string, nonce: string): string {
  const hash = createHash('sha256').update(body).digest('hex');
  const said = ['offhook peer asks', to, method, path, hash, time, nonce].join('\n');
  return createHmac('sha256', secret).update(said).digest('hex');
}
