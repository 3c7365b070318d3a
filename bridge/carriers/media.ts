// The media side of each carrier, by name: to add one, write its media.ts and add a line here. Beside it, where streams come,
// and what an upgrade is held against.
import type { IncomingMessage } from 'node:http';
import type { AudioFormat } from '../../audio/format.ts';
import { browserMedia } from './browser/media.ts';
import type { MediaCarrier, MediaWire } from './media-wire.ts';
import { twilioMedia } from './twilio/media.ts';

export const mediaCarriers: Readonly<Record<string, MediaCarrier>> = {
  browser: browserMedia,
  twilio: twilioMedia,
};

/** A carrier with its secret: what an upgrade is held against. */
export interface StreamCarrier {
  readonly format: AudioFormat;
  /** Whether this upgrade comes from the carrier. */
  verify(request: IncomingMessage): boolean;
  createWire(): MediaWire;
}

/**
 * The carriers of whose secrets there is one, if only an empty one, by name.
 * @throws Error for a name that no carrier has
 */
export function streamCarriers(
  o: { carrierSecrets: Readonly<Record<string, string>>; publicUrl: string },
  known: Readonly<Record<string, MediaCarrier>> = mediaCarriers,
): ReadonlyMap<string, StreamCarrier> {
  const streamsUrl = o.publicUrl.replace(/^http/, 'ws');
  const found = new Map<string, StreamCarrier>();
  for (const [name, secret] of Object.entries(o.carrierSecrets)) {
    const carrier = known[name];
    if (carrier === undefined) throw new Error(`There is no carrier "${name}".`);
    found.set(name, {
      format: carrier.format,
      createWire: carrier.createWire,
      verify: ({ headers, url = '' }) =>
        carrier.verifyUpgrade?.({ headers, url: streamsUrl + url, secret }) ??
        typeof readStreamPath(url)?.token === 'string',
    });
  }
  return found;
}

const PATH = /^\/media\/(\d{1,9})\/(\d{1,3})\/([a-z][a-z0-9_-]{0,31})\/([0-9a-f-]{36})(?:\/([\w-]{43}))?$/;

export interface StreamPath {
  /** Of the daemon that the stream is for: several may be reached under one address. */
  epoch: number;
  thread: number;
  carrier: string;
  callId: string;
  /** The call's, where the carrier brings it there. */
  token: string | null;
}

/** What a media upgrade's path says; null when it is none. */
export function readStreamPath(path: string | undefined): StreamPath | null {
  const [, epoch, thread, carrier = '', callId = '', token = null] = PATH.exec(path ?? '') ?? [];
  if (epoch === undefined) return null;
  return { epoch: Number(epoch), thread: Number(thread), carrier, callId, token };
}

const METHOD = Buffer.from('GET ');
const BEGINS = Buffer.from('GET /media/');
/** Of a request line, as far as a path of ours can reach. */
const MOST_LINE_BYTES = 160;

/** The path of the stream that a connection's first bytes ask for; null when they ask for none, whatever follows. */
export function streamAsked(first: Buffer): StreamPath | 'unclear' | null {
  const known = Math.min(first.length, BEGINS.length);
  if (first.compare(BEGINS, 0, known, 0, known) !== 0) return null;
  const end = first.indexOf(' ', METHOD.length);
  if (end === -1) return first.length < MOST_LINE_BYTES ? 'unclear' : null;
  return readStreamPath(first.toString('latin1', METHOD.length, end));
}
