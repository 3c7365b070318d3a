// Twilio as a carrier: its line, its numbers and its hooks, put together. https://www.twilio.com/docs/voice/api
import type { Carrier, TellEvent } from '../carrier.ts';
import { type HookGuardOptions, openHookGuard } from './hook-guard.ts';
import { hookUrl } from './hook-url.ts';
import { twilioHooks } from './hooks.ts';
import { openTwilioLine } from './line.ts';
import { openTwilioNumbers, ownedList } from './numbers.ts';
import { type NumberPrices, openPriceList, pricingUrl } from './prices.ts';
import { createTwilioRest } from './rest.ts';
import { TWILIO } from './setup.ts';
import { WaitingHooks } from './waiting-hooks.ts';

export interface TwilioOptions extends HookGuardOptions {
  /** `https://api.twilio.com`, or a Twilio-compatible carrier. */
  baseUrl: string;
  /** Where the hooks are mounted below the public URL, e.g. `/carriers/twilio`. */
  hooksPath: string;
  /** What the operator says numbers of a country cost; it goes over what the carrier says. */
  numberPrices?: (country: string) => NumberPrices;
  timeoutMs?: number;
  /** Wait before a request that may be repeated is repeated, doubling. */
  retryDelayMs?: number;
}

export function openTwilio(o: TwilioOptions): Carrier {
  const rest = createTwilioRest({
    accountSid: o.accountSid,
    authToken: o.authToken,
    timeoutMs: o.timeoutMs ?? 10_000,
    retryDelayMs: o.retryDelayMs ?? 250,
  });
  const baseUrl = o.baseUrl.replace(/\/+$/, '');
  const account = `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(o.accountSid)}`;
  const hooks = o.publicUrl + o.hooksPath;
  const prices = openPriceList(rest, { url: pricingUrl(baseUrl), log: o.log, own: o.numberPrices });
  const waiting = new WaitingHooks();
  let listener: TellEvent | null = null;
  return {
    name: TWILIO,
    capabilities: { telephone: true, detectsMachines: true, streamIsCall: false, answerSeconds: null },
    line: openTwilioLine(rest, {
      account,
      hookUrl: (callId, step) => hookUrl(hooks, `/calls/${callId}/${step}`),
      waiting,
    }),
    numbers: openTwilioNumbers(rest, { account, hooks, prices, log: o.log }),
    hooks: twilioHooks({ guard: openHookGuard(o), waiting, listener: () => listener, log: o.log }),
    // Media upgrades are signed as hooks are.
    mediaSecret: o.authToken,
    async check() {
      await rest.get(`${account}/IncomingPhoneNumbers.json?PageSize=1`, ownedList);
    },
    async open(tell) {
      listener = tell;
    },
    async close() {
      listener = null;
    },
  };
}
