// Premium and ordinary numbers of 20 countries, by what regulators publish and not by the library that knows them here: the
// national numbering plans as they are notified to the ITU (Operational Bulletin), each with the authority whose plan it is.
import t from 'tap';
import { destinationRefusals } from '../../../storage/outbound/gate.ts';
import { numberFacts } from '../../../storage/outbound/number-facts.ts';
import { rulesOf, UNLIMITED } from '../../../storage/outbound/rules.ts';

interface Plan {
  country: string;
  /** Whose plan, and which ranges of it cost more. */
  source: string;
  premium: [string, string];
  ordinary: [string, string];
}

const PLANS: readonly Plan[] = [
  {
    country: 'US',
    source: 'NANPA: 900',
    premium: ['+19002345678', '+19005551234'],
    ordinary: ['+12125550123', '+13125550199'],
  },
  {
    country: 'GB',
    source: 'Ofcom: 09',
    premium: ['+449011234567', '+449098790000'],
    ordinary: ['+442079460123', '+447400123456'],
  },
  {
    country: 'DE',
    source: 'Bundesnetzagentur: 0900-1, -3, -5, -9',
    premium: ['+499001123456', '+499003123456'],
    ordinary: ['+493012345678', '+4915112345678'],
  },
  {
    country: 'FR',
    source: 'ARCEP: 089',
    premium: ['+33892700000', '+33899123456'],
    ordinary: ['+33142345678', '+33612345678'],
  },
  {
    country: 'IT',
    source: 'AGCOM: 892, 899',
    premium: ['+39899123456', '+39892424'],
    ordinary: ['+390612345678', '+393331234567'],
  },
  {
    country: 'ES',
    source: 'CNMC: 803, 806, 807',
    premium: ['+34803123456', '+34807123456'],
    ordinary: ['+34911234567', '+34612345678'],
  },
  {
    country: 'NL',
    source: 'ACM: 0900, 0906, 0909',
    premium: ['+319001234', '+319061234'],
    ordinary: ['+31201234567', '+31612345678'],
  },
  {
    country: 'BE',
    source: 'BIPT: 0900 to 0909',
    premium: ['+3290012345', '+3290212345'],
    ordinary: ['+3225123456', '+32470123456'],
  },
  {
    country: 'CH',
    source: 'BAKOM: 0900, 0901, 0906',
    premium: ['+41900123456', '+41901123456'],
    ordinary: ['+41441234567', '+41791234567'],
  },
  {
    country: 'AT',
    source: 'RTR: 0900, 0930',
    premium: ['+43900123456', '+43930123456'],
    ordinary: ['+431580580', '+436641234567'],
  },
  {
    country: 'SE',
    source: 'PTS: 0900, 0939, 0944',
    premium: ['+469001234567', '+469391234567'],
    ordinary: ['+46812345678', '+46701234567'],
  },
  {
    country: 'NO',
    source: 'Nkom: 820, 829',
    premium: ['+4782012345', '+4782912345'],
    ordinary: ['+4722123456', '+4790612345'],
  },
  {
    country: 'PL',
    source: 'UKE: 70',
    premium: ['+48701234567', '+48703123456'],
    ordinary: ['+48221234567', '+48501234567'],
  },
  {
    country: 'CZ',
    source: 'ČTÚ: 900, 906, 909',
    premium: ['+420900123456', '+420909123456'],
    ordinary: ['+420224123456', '+420602123456'],
  },
  {
    country: 'PT',
    source: 'ANACOM: 607, 760',
    premium: ['+351760123456', '+351607123456'],
    ordinary: ['+351211234567', '+351912345678'],
  },
  {
    country: 'IE',
    source: 'ComReg: 1520 to 1590',
    premium: ['+3531520123456', '+3531590123456'],
    ordinary: ['+35312345678', '+353851234567'],
  },
  {
    country: 'AU',
    source: 'ACMA: 190',
    premium: ['+611900123456', '+611902123456'],
    ordinary: ['+61291234567', '+61412345678'],
  },
  {
    country: 'NZ',
    source: 'Number Administration Deed: 0900',
    premium: ['+64900123456', '+64900654321'],
    ordinary: ['+6493001234', '+64211234567'],
  },
  {
    country: 'JP',
    source: 'MIC: 0990',
    premium: ['+81990123456', '+81990654321'],
    ordinary: ['+81312345678', '+819012345678'],
  },
  {
    country: 'BR',
    source: 'Anatel: 0500, 0900',
    premium: ['+55900123456', '+55500123456'],
    ordinary: ['+551132345678', '+5511987654321'],
  },
];

t.test('40 premium and 40 ordinary numbers of 20 countries fall right', (t) => {
  const rules = { ...rulesOf({}, UNLIMITED), countries: PLANS.map(({ country }) => country) };
  const codes = (to: string) =>
    destinationRefusals(to, rules, { number: numberFacts(to), ownCountries: [] }).map(({ code }) => code);
  t.equal(PLANS.length, 20);
  for (const { country, source, premium, ordinary } of PLANS) {
    for (const to of premium) {
      t.match(numberFacts(to), { country, possible: true }, `${to} ${source}`);
      t.strictSame(codes(to), ['destination_closed'], `${to} ${source}`);
    }
    for (const to of ordinary) {
      t.match(numberFacts(to), { country, possible: true }, to);
      t.strictSame(codes(to), [], `${to} of ${country}`);
      t.ok(numberFacts(to).zones.length > 0, `${to} is somewhere`);
    }
  }
  t.end();
});

t.test('ranges of no country are closed wherever calls go to', (t) => {
  // ITU-T E.164, list of assigned country codes: Inmarsat, global mobile satellite systems, international networks, disaster
  // relief, international shared cost, international premium rate.
  const rules = { ...rulesOf({}, UNLIMITED), allowed_prefixes: ['+8', '+9'] };
  for (const to of [
    '+870773111632',
    '+881612345678',
    '+88213123456',
    '+883510012345',
    '+888123456789',
    '+80812345678',
    '+979123456789',
  ]) {
    const found = destinationRefusals(to, rules, { number: numberFacts(to), ownCountries: [] });
    t.match(found, [{ code: 'destination_closed', evidence: { country: null } }], to);
  }
  t.end();
});
