// PURE. Twilio's media side: its sound, its codec, and the signature of its upgrades.
// https://www.twilio.com/docs/voice/media-streams
import { MULAW_8K } from '../../../audio/format.ts';
import type { MediaCarrier } from '../media-wire.ts';
import { verifyTwilio } from './signature.ts';
import { createTwilioWire } from './wire.ts';

export const twilioMedia: MediaCarrier = {
  format: MULAW_8K,
  createWire: createTwilioWire,
  verifyUpgrade({ headers, url, secret }) {
    const signature = headers['x-twilio-signature'];
    return typeof signature === 'string' && verifyTwilio({ authToken: secret, signature, url, params: {} });
  },
};
