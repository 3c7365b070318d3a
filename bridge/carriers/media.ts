// The media side of each carrier: its wire, where its streams come, and how an upgrade proves that it comes from there.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type AudioFormat, MULAW_8K } from '../../audio/format.ts';
import { isOwnOrigin } from './browser/origin.ts';
import { createBrowserWire } from './browser/wire.ts';
import type { MediaWire } from './media-wire.ts';
import { verifyTwilio } from './twilio/signature.ts';
import { createTwilioWire } from './twilio/wire.ts';

export interface MediaCarrier {
  /** What its streams take the agent's sound in, and bring the caller's where a start does not say otherwise. */
  readonly format: AudioFormat;
  createWire(): MediaWire;
  /**
   * `url` is the stream's address to the letter, as the carrier was given it. Null: nothing shows whence an upgrade comes,
   * and its path must have the call's token.
   */
  readonly verifyUpgrade:
    | ((o: { headers: IncomingHttpHeaders; url: string; secret: string }) => boolean)
    | null;
}

export const mediaCarriers: Readonly<Record<string, MediaCarrier>> = {
  browser: {
    format: MULAW_8K,
    createWire: createBrowserWire,
    // No secret is shared with a page: its origin is told by the browser, and the call's one-time token is the proof.
    verifyUpgrade: isOwnOrigin,
  },
  twilio: {
    format: MULAW_8K,
    createWire: createTwilioWire,
    verifyUpgrade({ headers, url, secret }) {
      const signature = headers['x-twilio-signature'];
      return typeof signature === 'string' && verifyTwilio({ authToken: secret, signature, url, params: {} });
    },
  },
};

/** A carrier with its secret: what an upgrade is held against. */
export interface StreamCarrier {
  readonly format: AudioFormat;
  /** Whether this upgrade comes from the carrier. */
  verify(request: IncomingMessage): boolean;
  createWire(): MediaWire;
}

/**
 * The carriers that have a secret, by name.
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

const PATH = /^\/media\/(\d{1,3})\/([a-z][a-z0-9_-]{0,31})\/([0-9a-f-]{36})(?:\/([\w-]{43}))?$/;

/** What a media upgrade's path says; null when it is none. `token`: the call's, where the carrier brings it there. */
export function readStreamPath(
  path: string | undefined,
): { thread: number; carrier: string; callId: string; token: string | null } | null {
  const [, thread, carrier = '', callId = '', token = null] = PATH.exec(path ?? '') ?? [];
  return thread === undefined ? null : { thread: Number(thread), carrier, callId, token };
}
