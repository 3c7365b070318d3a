// Which carriers there are: to add one, write its folder, name its setup in bridge/setups.ts and open it here. Those are opened
// that the settings set up. Their media side is bridge/carriers/media.ts, so that a media thread loads neither this nor
// their clients.
import type { Config } from '../../config.ts';
import { isSetUp } from '../setups.ts';
import { type BrowserOptions, openBrowser } from './browser/carrier.ts';
import type { Carrier } from './carrier.ts';
import { type Carriers, createCarriers, hooksPath } from './registry.ts';
import type { CarrierSetup } from './setup.ts';
import { openTwilio, type TwilioOptions } from './twilio/carrier.ts';
import { TWILIO, twilioSetup } from './twilio/setup.ts';

/** What carriers need of the program; each takes its settings of the configuration. */
export interface CarrierParts
  extends Pick<TwilioOptions, 'publicUrl' | 'clientOf' | 'log' | 'strangers'>,
    BrowserOptions {
  /** What the operator says that numbers of a carrier cost in a country, in cents a month by their kind. */
  numberPrices(carrier: string, country: string): Readonly<Record<string, number>>;
}

/** In the order in which they are asked for what any of them could do. `setup` null: it takes no settings. */
const CARRIERS: readonly {
  setup: CarrierSetup | null;
  open(config: Config, o: CarrierParts): Carrier;
}[] = [
  {
    setup: twilioSetup,
    open: (config, o) =>
      openTwilio({
        ...o,
        accountSid: config.TWILIO_ACCOUNT_SID ?? '',
        authToken: config.TWILIO_AUTH_TOKEN ?? '',
        baseUrl: config.TWILIO_BASE_URL,
        hooksPath: hooksPath(TWILIO),
        numberPrices: (country) => o.numberPrices(TWILIO, country),
      }),
  },
  { setup: null, open: (_config, o) => openBrowser(o) },
];

export function openCarriers(config: Config, o: CarrierParts): Carriers {
  const there = CARRIERS.filter(({ setup }) => setup === null || isSetUp(setup, config));
  return createCarriers(there.map(({ open }) => open(config, o)));
}
