// PURE. The media side of calls from a page: its sound, its codec, and whose page may open a socket.
import { MULAW_8K } from '../../../audio/format.ts';
import type { MediaCarrier } from '../media-wire.ts';
import { isOwnOrigin } from './origin.ts';
import { createBrowserWire } from './wire.ts';

export const browserMedia: MediaCarrier = {
  format: MULAW_8K,
  createWire: createBrowserWire,
  // No secret is shared with a page: its origin is told by the browser, and the call's one-time token is the proof.
  verifyUpgrade: isOwnOrigin,
};
