// Which carriers there are: to add one, write its folder and open it here.
// Their media side is bridge/carriers/media.ts, so that a media thread loads neither this nor their clients.
import type { Config } from '../../config.ts';
import { type BrowserOptions, openBrowser } from './browser/carrier.ts';
import { type Carriers, createCarriers, hooksPath } from './registry.ts';
import { openTwilio, TWILIO, type TwilioOptions } from './twilio/carrier.ts';

/** What carriers need of the program; each takes its settings of the configuration. */
export interface CarrierParts
  extends Pick<TwilioOptions, 'publicUrl' | 'clientOf' | 'log' | 'strangers'>,
    BrowserOptions {
  /** What the operator says that numbers of a carrier cost in a country, in cents a month by their kind. */
  numberPrices(carrier: string, country: string): Readonly<Record<string, number>>;
}

export function openCarriers(config: Config, o: CarrierParts): Carriers {
  return createCarriers([
    openTwilio({
      ...o,
      accountSid: config.TWILIO_ACCOUNT_SID ?? '',
      authToken: config.TWILIO_AUTH_TOKEN ?? '',
      baseUrl: config.TWILIO_BASE_URL,
      hooksPath: hooksPath(TWILIO),
      numberPrices: (country) => o.numberPrices(TWILIO, country),
    }),
    openBrowser(o),
  ]);
}
