// The media side of each carrier: its wire, and how an upgrade proves that it comes from there.
import type { IncomingHttpHeaders } from 'node:http';
import { isOwnOrigin } from '../carriers/browser-origin.ts';
import { createBrowserWire } from '../carriers/browser-wire.ts';
import type { MediaWire } from '../carriers/carrier.ts';
import { verifyTwilio } from '../carriers/twilio-signature.ts';
import { createTwilioWire } from '../carriers/twilio-wire.ts';

export interface MediaCarrier {
  createWire(): MediaWire;
  /** `url` is the stream's address to the letter, as the carrier was given it. */
  verifyUpgrade(o: { headers: IncomingHttpHeaders; url: string; secret: string }): boolean;
}

export const mediaCarriers: Readonly<Record<string, MediaCarrier>> = {
  browser: {
    createWire: createBrowserWire,
    // No secret is shared with a page: its origin is told by the browser, and the call's one-time token is the proof.
    verifyUpgrade: isOwnOrigin,
  },
  twilio: {
    createWire: createTwilioWire,
    verifyUpgrade({ headers, url, secret }) {
      const signature = headers['x-twilio-signature'];
      return typeof signature === 'string' && verifyTwilio({ authToken: secret, signature, url, params: {} });
    },
  },
};
