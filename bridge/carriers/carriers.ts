// The carriers, by name, as the control thread needs them: to add one, write its client and, where it has hooks, those, and
// add a line here. Their media side is bridge/carriers/media.ts, so that a media thread loads neither.
import { openBrowser } from './browser/client.ts';
import { openTwilio } from './twilio/client.ts';
import { twilioHooks } from './twilio/hooks.ts';

export const carriers = {
  twilio: { open: openTwilio, hooks: twilioHooks },
  browser: { open: openBrowser },
} as const;
