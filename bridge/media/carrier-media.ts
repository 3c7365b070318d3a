// The media side of each carrier: its wire, and how an upgrade proves that it comes from there.
import type { IncomingHttpHeaders } from 'node:http';
import type { MediaWire } from '../carriers/carrier.ts';
import { verifyTwilio } from '../carriers/twilio-signature.ts';
import { createTwilioWire } from '../carriers/twilio-wire.ts';

export interface MediaCarrier {
  createWire(): MediaWire;
  /** `url` is the stream's address to the letter, as the carrier was given it. */
  verifyUpgrade(o: { headers: IncomingHttpHeaders; url: string; secret: string }): boolean;
}

export const mediaCarriers: Readonly<Record<string, MediaCarrier>> = {
  twilio: {
    createWire: createTwilioWire,
    verifyUpgrade({ headers, url, secret }) {
      const signature = headers['x-twilio-signature'];
      return typeof signature === 'string' && verifyTwilio({ authToken: secret, signature, url, params: {} });
    },
  },
};
