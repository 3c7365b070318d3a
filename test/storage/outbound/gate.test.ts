// The outbound gate by itself: random asks against another reading of the rules, and what each refusal says.
import t from 'tap';
import { DAYS } from '../../../storage/outbound/calling-hours.ts';
import { decide, type GateFacts } from '../../../storage/outbound/gate.ts';
import { numberFacts } from '../../../storage/outbound/number-facts.ts';
import { GATE_CODES, type GateCode, type GateOverride } from '../../../storage/outbound/outbound-records.ts';
import {
  CLOSED_KINDS,
  defaultsOf,
  type OutboundRules,
  rulesOf,
  UNLIMITED,
} from '../../../storage/outbound/rules.ts';
import { SEED } from '../../bridge/seed.ts';
import { seeded } from '../../random.ts';

const BY = { kind: 'user' as const, id: 'u', name: 'Ada' };
const NOON = new Date('2026-03-02T20:00:00.000Z');
const RULES = rulesOf({}, UNLIMITED);

function facts(to: string, fields: Partial<GateFacts> = {}): GateFacts {
  return {
    number: numberFacts(to),
    ownCountries: ['US'],
    doNotCall: null,
    consentAskedBy: null,
    consent: null,
    callsToDestination: null,
    destinationFreeAt: null,
    callsInMinute: null,
    spentMilliCents: null,
    ...fields,
  };
}

const clocks = new Map<string, Intl.DateTimeFormat>();
/** Writes times as `2026-03-01 08:05`. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  clocks.set(timeZone, clock);
  return clock;
}

/** As the documentation has the rules, read once more: every code that must speak against the call. */
function expected(to: string, at: Date, rules: OutboundRules, given: GateFacts): Set<GateCode> {
  const codes = new Set<GateCode>();
  const { kind, country, possible, zones } = given.number;
  for (const prefix of rules.closed_prefixes) if (to.indexOf(prefix) === 0) codes.add('destination_closed');
  for (const closed of rules.closed_kinds) if (closed === kind) codes.add('destination_closed');
  const countries = new Set<string | null>([...rules.countries, ...given.ownCountries]);
  let allowed = country !== null && countries.has(country);
  for (const prefix of rules.allowed_prefixes) if (to.indexOf(prefix) === 0) allowed = true;
  if (!allowed || !possible) codes.add('destination_not_allowed');
  if (given.doNotCall) codes.add('do_not_call');
  if (given.consentAskedBy && !given.consent) codes.add('consent_missing');
  const hours = rules.calling_hours;
  if (hours !== null) {
    const always = hours.from === '00:00' && hours.to === '24:00' && hours.days.length === 7;
    let open = always || zones.length > 0;
    for (const zone of zones) {
      const [day = '', time = ''] = clockOf(zone).format(at).split(' ');
      const weekday = (['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const)[
        new Date(`${day}T12:00:00Z`).getUTCDay()
      ];
      if (weekday === undefined || !hours.days.includes(weekday)) open = open && always;
      if (time.slice(0, 5) < hours.from || (hours.to !== '24:00' && time.slice(0, 5) >= hours.to))
        open = open && always;
    }
    if (!open) codes.add('outside_calling_hours');
  }
  const atLimit = (count: number | null, limit: number | null) =>
    limit !== null && count !== null && count >= limit;
  if (atLimit(given.callsToDestination, rules.calls_per_destination_per_day))
    codes.add('too_many_to_destination');
  if (atLimit(given.callsInMinute, rules.calls_per_minute)) codes.add('calls_per_minute');
  if (atLimit(given.spentMilliCents, rules.spend_per_day_milli_cents)) codes.add('daily_spend_reached');
  return codes;
}

t.test('100,000 random asks: none goes out that should not, none is refused without reason', (t) => {
  const random = seeded(SEED);
  t.comment(`seed ${SEED}`);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const maybe = <T>(chance: number, value: () => T): T | null => (random() < chance ? value() : null);
  const digits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
  const codesOf = [
    '1',
    '1415',
    '1212',
    '44',
    '49',
    '33',
    '39',
    '81',
    '61',
    '870',
    '881',
    '979',
    '7',
    '55',
    '234',
    '999',
  ];
  const known = [
    '+14155550123',
    '+19005551234',
    '+442079460000',
    '+449098790000',
    '+4915112345678',
    '+18005551212',
    '+15550001111',
    '+80012345678',
  ];
  const some = Array.from(
    { length: 1500 },
    () => `+${pick(codesOf)}${digits(5 + Math.floor(random() * 4))}`,
  ).concat(known, known);
  const countries = ['US', 'GB', 'DE', 'FR', 'IT', 'JP', 'AU', 'RU', 'BR', 'NG'];
  const limit = () => maybe(0.6, () => Math.floor(random() * 4));
  let [out, refused, overridden] = [0, 0, 0];
  for (let ask = 0; ask < 100_000; ask++) {
    const to = pick(some);
    const [from = '', end = ''] = ['08:00', '09:30', '17:15', '21:00', '00:00', '24:00']
      .sort(() => random() - 0.5)
      .slice(0, 2)
      .sort();
    const rules: OutboundRules = {
      countries: countries.filter(() => random() < 0.3),
      allowed_prefixes: random() < 0.2 ? [pick(['+1', '+44', '+800', '+49151', to.slice(0, 5)])] : [],
      closed_prefixes: random() < 0.2 ? [pick(['+1415', '+44', '+1', to.slice(0, 4)])] : [],
      closed_kinds: random() < 0.8 ? CLOSED_KINDS : CLOSED_KINDS.filter(() => random() < 0.5),
      calls_per_destination_per_day: limit(),
      calls_per_minute: limit(),
      spend_per_day_milli_cents: limit(),
      calling_hours: maybe(0.6, () => ({
        from,
        to: end,
        days: random() < 0.7 ? DAYS : DAYS.filter(() => random() < 0.6),
      })),
      consent: 'none',
    };
    const count = (asked: number | null) => (asked === null ? null : Math.floor(random() * 4));
    const given = facts(to, {
      ownCountries: countries.filter(() => random() < 0.3),
      doNotCall: maybe(0.1, () => ({
        id: 'd',
        source: pick(['said', 'api'] as const),
        created_at: NOON.toISOString(),
        call_id: null,
      })),
      consentAskedBy: maybe(0.2, () => pick(['rules', 'agent'] as const)),
      consent: maybe(0.5, () => ({ id: 'c' })),
      callsToDestination: count(rules.calls_per_destination_per_day),
      callsInMinute: count(rules.calls_per_minute),
      spentMilliCents: count(rules.spend_per_day_milli_cents),
    });
    const at = new Date(NOON.getTime() + Math.floor(random() * 366 * 86_400_000));
    const override: GateOverride | null = maybe(0.3, () => ({
      by: BY,
      codes: GATE_CODES.filter(() => random() < 0.7),
      reason: 'asked to',
    }));
    const codes = expected(to, at, rules, given);
    const left = [...codes].filter((code) => !override?.codes.includes(code));
    const decided = decide({ to, at, override }, rules, given);
    const wrong = (what: string) =>
      t.fail(what, { to, time: at.toISOString(), rules, given, override, codes: [...codes], decided });
    if ('allowed' in decided) {
      out += 1;
      if (left.length > 0) wrong('it goes out');
      const named = decided.allowed.overridden?.codes ?? [];
      if (named.length !== codes.size || named.some((code) => !codes.has(code)))
        wrong('it does not say what was let pass');
      if (named.length > 0) overridden += 1;
    } else {
      refused += 1;
      const { code, codes: all, reason, evidence } = decided.refusal;
      if (!left.includes(code)) wrong('it is refused without reason');
      if (all.length !== codes.size || all.some((one) => !codes.has(one)))
        wrong('it does not say all that speaks against it');
      if (reason === '' || Object.keys(evidence).length === 0) wrong('it has no evidence');
    }
  }
  t.comment(`${out} went out, ${overridden} of them by an override; ${refused} were refused`);
  t.ok(out > 1_000 && refused > 1_000 && overridden > 100);
  t.end();
});

t.test('what a refusal says, each with its evidence', (t) => {
  const to = '+14155550123';
  const list = { id: 'd', source: 'said' as const, created_at: '2026-02-01T10:00:00.000Z', call_id: 'c' };
  const hours = { from: '08:00', to: '21:00', days: DAYS };
  const cases: [string, Partial<OutboundRules>, Partial<GateFacts>, Date, object][] = [
    [
      '+19005551234',
      {},
      {},
      NOON,
      {
        code: 'destination_closed',
        reason: /premium/,
        evidence: { kind: 'premium', country: 'US', prefix: null },
      },
    ],
    [
      to,
      { closed_prefixes: ['+1415'] },
      {},
      NOON,
      { code: 'destination_closed', evidence: { prefix: '+1415' } },
    ],
    [
      '+442079460000',
      {},
      {},
      NOON,
      { code: 'destination_not_allowed', reason: /GB.*US/, evidence: { country: 'GB', countries: ['US'] } },
    ],
    ['+1415', {}, {}, NOON, { code: 'destination_not_allowed', evidence: { possible: false } }],
    [
      to,
      {},
      { doNotCall: list },
      NOON,
      { code: 'do_not_call', reason: /said on a call/, evidence: { source: 'said', call_id: 'c' } },
    ],
    [to, {}, { consentAskedBy: 'agent' }, NOON, { code: 'consent_missing', evidence: { asked_by: 'agent' } }],
    [
      to,
      { calling_hours: hours },
      {},
      new Date('2026-03-02T12:00:00.000Z'),
      {
        code: 'outside_calling_hours',
        reason: /04:00 in America\/Los_Angeles/,
        evidence: { opens_at: '2026-03-02T16:00:00.000Z', from: '08:00' },
        retry_after_seconds: 4 * 3600,
      },
    ],
    [
      to,
      { calls_per_destination_per_day: 3 },
      { callsToDestination: 3, destinationFreeAt: new Date(NOON.getTime() + 90_500) },
      NOON,
      { code: 'too_many_to_destination', evidence: { calls: 3, limit: 3 }, retry_after_seconds: 91 },
    ],
    [
      to,
      { calls_per_minute: 60 },
      { callsInMinute: 60 },
      NOON,
      { code: 'calls_per_minute', evidence: { calls: 60, limit: 60 }, retry_after_seconds: 60 },
    ],
    [
      to,
      { spend_per_day_milli_cents: 500 },
      { spentMilliCents: 501 },
      NOON,
      { code: 'daily_spend_reached', evidence: { spent_milli_cents: 501, limit_milli_cents: 500 } },
    ],
  ];
  for (const [number, rules, given, at, refusal] of cases) {
    t.match(decide({ to: number, at, override: null }, { ...RULES, ...rules }, facts(number, given)), {
      refusal,
    });
  }
  t.strictSame(
    new Set(cases.map(([, , , , refusal]) => (refusal as { code: string }).code)),
    new Set(GATE_CODES),
    'every code',
  );
  t.end();
});

t.test('an override lets pass what it names and nothing else', (t) => {
  const to = '+19005551234';
  const list = { id: 'd', source: 'api' as const, created_at: '2026-02-01T10:00:00.000Z', call_id: null };
  const ask = (codes: GateCode[]) =>
    decide(
      { to, at: NOON, override: { by: BY, codes, reason: 'our own line' } },
      RULES,
      facts(to, { doNotCall: list }),
    );
  t.match(ask(['destination_closed']), {
    refusal: { code: 'do_not_call', codes: ['destination_closed', 'do_not_call'] },
  });
  t.match(ask(['do_not_call']), { refusal: { code: 'destination_closed' } });
  t.match(ask(['destination_closed', 'do_not_call', 'calls_per_minute']), {
    allowed: { overridden: { by: BY, codes: ['destination_closed', 'do_not_call'], reason: 'our own line' } },
  });
  t.match(
    decide(
      { to: '+14155550123', at: NOON, override: { by: BY, codes: ['do_not_call'], reason: 'x' } },
      RULES,
      facts('+14155550123'),
    ),
    { allowed: { overridden: null } },
    'where nothing spoke against it, nothing was overridden',
  );
  t.end();
});

t.test('settings are the rules of who has none; 0 and the whole day are no limit', (t) => {
  const settings = {
    OUTBOUND_COUNTRIES: ['CA'],
    OUTBOUND_PER_DESTINATION_PER_DAY: 3,
    OUTBOUND_PER_MINUTE: 60,
    OUTBOUND_HOURS: '08:00-21:00',
  };
  t.match(rulesOf({}, defaultsOf(settings)), {
    countries: ['CA'],
    calls_per_destination_per_day: 3,
    calls_per_minute: 60,
    calling_hours: { from: '08:00', to: '21:00' },
    closed_kinds: CLOSED_KINDS,
    consent: 'none',
    spend_per_day_milli_cents: null,
  });
  t.match(rulesOf({ calls_per_minute: null, countries: [] }, defaultsOf(settings)), {
    calls_per_minute: null,
    countries: [],
    calls_per_destination_per_day: 3,
  });
  t.match(
    defaultsOf({
      ...settings,
      OUTBOUND_PER_DESTINATION_PER_DAY: 0,
      OUTBOUND_PER_MINUTE: 0,
      OUTBOUND_HOURS: '00:00-24:00',
    }),
    { calls_per_destination_per_day: null, calls_per_minute: null, calling_hours: null },
  );
  t.end();
});
