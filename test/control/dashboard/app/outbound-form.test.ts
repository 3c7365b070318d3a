// The form of the rules of outbound calls: there and back, what is wrong, what is changed.
import t from 'tap';
import {
  GATE_CODES,
  KINDS,
  outboundChange,
  outboundFaults,
  outboundForm,
  typedNumber,
} from '../../../../control/dashboard/app/forms/outbound-form.ts';
import type { OutboundRules } from '../../../../control/sdk/index.ts';
import { GATE_CODES as CODES } from '../../../../storage/outbound/outbound-records.ts';
import { CLOSED_KINDS } from '../../../../storage/outbound/rules.ts';

const RULES: OutboundRules = {
  countries: ['CA', 'GB'],
  allowed_prefixes: ['+4930'],
  closed_prefixes: [],
  closed_kinds: ['premium', 'satellite'],
  calls_per_destination_per_day: 3,
  calls_per_minute: null,
  spend_per_day_milli_cents: 1_250_000,
  calling_hours: { from: '08:00', to: '21:00', days: ['mon', 'tue'] },
  consent: 'none',
  number_countries: ['US'],
  own: [],
  updated_at: null,
  updated_by: null,
};

t.test('a form that nobody touched changes nothing', (t) => {
  const form = outboundForm(RULES);
  t.match(form, {
    countries: 'CA, GB',
    perDestination: '3',
    perMinute: '',
    spend: '12.5',
    anyTime: false,
    consent: false,
  });
  t.same(outboundFaults(form), {});
  t.same(outboundChange(form, RULES), {});
  const free = { ...RULES, calling_hours: null };
  t.same(outboundChange(outboundForm(free), free), {});
  t.end();
});

t.test('what is typed becomes rules', (t) => {
  const form = outboundForm(RULES);
  t.same(outboundChange({ ...form, countries: 'ca; gb de,DE' }, RULES), { countries: ['CA', 'GB', 'DE'] });
  t.same(outboundChange({ ...form, perDestination: '', perMinute: '20', spend: '7,5' }, RULES), {
    calls_per_destination_per_day: null,
    calls_per_minute: 20,
    spend_per_day_milli_cents: 750_000,
  });
  t.same(outboundChange({ ...form, anyTime: true, consent: true, spend: '' }, RULES), {
    spend_per_day_milli_cents: null,
    calling_hours: null,
    consent: 'required',
  });
  t.same(outboundChange({ ...form, to: '24:00', days: ['sun'], closedKinds: [] }, RULES), {
    closed_kinds: [],
    calling_hours: { from: '08:00', to: '24:00', days: ['sun'] },
  });
  t.equal(typedNumber('+1 (415) 555-0123'), '+14155550123');
  t.end();
});

t.test('what is wrong is said at its field', (t) => {
  const form = outboundForm(RULES);
  for (const [fields, name] of [
    [{ countries: 'Canada' }, 'countries'],
    [{ allowedPrefixes: '4420' }, 'allowedPrefixes'],
    [{ closedPrefixes: '+44 x' }, 'closedPrefixes'],
    [{ perDestination: '-1' }, 'perDestination'],
    [{ perMinute: '1.5' }, 'perMinute'],
    [{ spend: 'much' }, 'spend'],
    [{ from: '8' }, 'from'],
    [{ to: '25:00' }, 'to'],
    [{ from: '21:00', to: '08:00' }, 'to'],
    [{ days: [] }, 'days'],
  ] as const) {
    t.same(Object.keys(outboundFaults({ ...form, ...fields })), [name], name);
    t.same(outboundFaults({ ...form, anyTime: true, from: '', to: '', days: [] }), {});
  }
  t.end();
});

t.test('it has a word for every code, and a box for every kind that is closed', (t) => {
  t.same(GATE_CODES, CODES);
  for (const kind of CLOSED_KINDS)
    t.ok(
      KINDS.some(({ value }) => value === kind),
      kind,
    );
  t.end();
});
