// Calling hours where the other side is, over zones and changes of clocks.
import t from 'tap';
import { type CallingHours, DAYS, hoursThere, isAlways } from '../../../storage/outbound/calling-hours.ts';
import { SEED } from '../../bridge/seed.ts';
import { seeded } from '../../random.ts';

const DAY: CallingHours = { from: '08:00', to: '21:00', days: DAYS };
const at = (time: string) => new Date(time);
const opens = (hours: CallingHours, zones: string[], time: string) =>
  hoursThere(hours, zones, at(time)).opensAt?.toISOString() ?? null;

t.test('open is from the first minute until before the last, by the clock there', (t) => {
  const cases: [string, string, boolean, string][] = [
    // New York is five hours behind in winter, four in summer.
    ['America/New_York', '2026-01-15T12:59:59.999Z', false, '2026-01-15T07:59'],
    ['America/New_York', '2026-01-15T13:00:00.000Z', true, '2026-01-15T08:00'],
    ['America/New_York', '2026-01-16T01:59:59.999Z', true, '2026-01-15T20:59'],
    ['America/New_York', '2026-01-16T02:00:00.000Z', false, '2026-01-15T21:00'],
    ['America/New_York', '2026-07-15T12:00:00.000Z', true, '2026-07-15T08:00'],
    ['Asia/Kathmandu', '2026-03-01T02:15:00.000Z', true, '2026-03-01T08:00'],
    ['Asia/Kathmandu', '2026-03-01T02:14:00.000Z', false, '2026-03-01T07:59'],
    ['Pacific/Kiritimati', '2026-03-01T18:00:00.000Z', true, '2026-03-02T08:00'],
  ];
  for (const [zone, time, open, there] of cases) {
    t.match(hoursThere(DAY, [zone], at(time)), { open, local: [{ zone, time: there }] }, `${zone} ${time}`);
  }
  t.end();
});

t.test('the day that clocks are changed', (t) => {
  // 2026-03-08: New York goes from 02:00 to 03:00. 2026-11-01: from 02:00 back to 01:00. Berlin: 2026-03-29.
  t.equal(opens(DAY, ['America/New_York'], '2026-03-08T05:00:00Z'), '2026-03-08T12:00:00.000Z');
  t.equal(opens(DAY, ['America/New_York'], '2026-03-07T05:00:00Z'), '2026-03-07T13:00:00.000Z');
  t.equal(opens(DAY, ['Europe/Berlin'], '2026-03-29T00:30:00Z'), '2026-03-29T06:00:00.000Z');
  t.equal(opens(DAY, ['Europe/Berlin'], '2026-10-25T00:30:00Z'), '2026-10-25T07:00:00.000Z');
  const night: CallingHours = { from: '02:30', to: '03:30', days: DAYS };
  t.equal(
    opens(night, ['America/New_York'], '2026-03-08T06:00:00Z'),
    '2026-03-08T07:00:00.000Z',
    'the clock jumps into it',
  );
  const gone: CallingHours = { from: '02:10', to: '02:50', days: DAYS };
  t.equal(
    opens(gone, ['America/New_York'], '2026-03-08T06:00:00Z'),
    '2026-03-09T06:10:00.000Z',
    'or over it',
  );
  const twice: CallingHours = { from: '01:15', to: '01:45', days: DAYS };
  t.equal(opens(twice, ['America/New_York'], '2026-11-01T05:00:00Z'), '2026-11-01T05:15:00.000Z');
  t.equal(
    opens(twice, ['America/New_York'], '2026-11-01T05:50:00Z'),
    '2026-11-01T06:15:00.000Z',
    'and comes twice',
  );
  t.equal(
    opens({ ...DAY, from: '00:00' }, ['Asia/Beirut'], '2026-03-28T21:30:00Z'),
    '2026-03-28T22:00:00.000Z',
    'midnight that is not there',
  );
  t.end();
});

t.test('several zones are open together, or not at all', (t) => {
  const coasts = ['America/New_York', 'America/Los_Angeles'];
  t.equal(hoursThere(DAY, coasts, at('2026-01-15T15:00:00Z')).open, false, 'seven in the west');
  t.equal(hoursThere(DAY, coasts, at('2026-01-15T16:00:00Z')).open, true);
  t.equal(hoursThere(DAY, coasts, at('2026-01-16T02:30:00Z')).open, false, 'half past nine in the east');
  t.equal(opens(DAY, coasts, '2026-01-16T02:30:00Z'), '2026-01-16T16:00:00.000Z');
  const never = ['Pacific/Auckland', 'Atlantic/Azores', 'America/Los_Angeles'];
  t.equal(opens({ from: '08:00', to: '12:00', days: DAYS }, never, '2026-01-16T02:30:00Z'), null);
  t.strictSame(hoursThere(DAY, ['Europe/Berlin', 'Europe/Paris'], at('2026-01-15T11:00:00Z')).local, [
    { zone: 'Europe/Berlin', time: '2026-01-15T12:00' },
  ]);
  t.end();
});

t.test('days of the week are those there', (t) => {
  const week: CallingHours = { from: '09:00', to: '18:00', days: ['mon', 'tue', 'wed', 'thu', 'fri'] };
  // 2026-03-06 is a Friday.
  t.equal(hoursThere(week, ['Asia/Tokyo'], at('2026-03-06T01:00:00Z')).open, true);
  t.equal(hoursThere(week, ['Asia/Tokyo'], at('2026-03-07T01:00:00Z')).open, false);
  t.equal(opens(week, ['Asia/Tokyo'], '2026-03-06T10:00:00Z'), '2026-03-09T00:00:00.000Z');
  t.equal(opens({ ...week, days: [] }, ['Asia/Tokyo'], '2026-03-06T10:00:00Z'), null);
  t.end();
});

t.test('no hours are any time; no zone is none', (t) => {
  t.match(hoursThere(null, [], at('2026-03-06T01:00:00Z')), { open: true, local: [] });
  t.match(hoursThere({ from: '00:00', to: '24:00', days: DAYS }, [], at('2026-03-06T01:00:00Z')), {
    open: true,
  });
  t.match(hoursThere(DAY, [], at('2026-03-06T12:00:00Z')), { open: false, opensAt: null });
  t.strictSame(
    [isAlways(null), isAlways({ ...DAY, from: '00:00', to: '24:00' }), isAlways(DAY)],
    [true, true, false],
  );
  t.end();
});

const clocks = new Map<string, Intl.DateTimeFormat>();
/** Writes times as `2026-03-01 08:05`. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  clocks.set(timeZone, clock);
  return clock;
}

// An independent reading: what the clock shows as text, minute by minute.
function isOpenByText({ from, to, days }: CallingHours, zone: string, ms: number): boolean {
  const text = clockOf(zone).format(ms);
  const day = new Date(`${text.slice(0, 10)}T12:00:00Z`).getUTCDay();
  const time = text.slice(11, 16);
  return days.includes(DAYS[(day + 6) % 7] ?? 'mon') && time >= from && (to === '24:00' || time < to);
}

t.test('the next opening is the first minute of the next days that is open, in every zone', (t) => {
  const random = seeded(SEED);
  t.comment(`seed ${SEED}`);
  const zones = [
    'America/New_York',
    'America/St_Johns',
    'Europe/Berlin',
    'Asia/Beirut',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'America/Havana',
    'Africa/Cairo',
    'Pacific/Apia',
    'Asia/Tehran',
  ];
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const time = () =>
    `${String(Math.floor(random() * 24)).padStart(2, '0')}:${pick(['00', '15', '30', '45'])}`;
  // Days around which clocks are changed somewhere.
  const changes = [
    '2026-03-08',
    '2026-03-29',
    '2026-04-05',
    '2026-04-24',
    '2026-10-04',
    '2026-10-25',
    '2026-10-30',
    '2026-11-01',
    '2026-06-15',
  ];
  for (let run = 0; run < 150; run++) {
    const [from = '', to = ''] = [time(), time()].sort();
    if (from === to) continue;
    const hours: CallingHours = { from, to, days: DAYS.filter(() => random() < 0.8) };
    const chosen = random() < 0.3 ? [pick(zones), pick(zones)] : [pick(zones)];
    const start =
      Math.floor((Date.parse(`${pick(changes)}T00:00:00Z`) + (random() - 0.7) * 2 * 86_400_000) / 60_000) *
      60_000;
    let first = start;
    const end = start + 4 * 86_400_000;
    while (first < end && !chosen.every((zone) => isOpenByText(hours, zone, first))) first += 60_000;
    const found = hoursThere(hours, chosen, new Date(start)).opensAt?.getTime() ?? Number.POSITIVE_INFINITY;
    const same = first < end ? found === first : found >= end;
    if (!same)
      t.fail('another moment', { hours, chosen, start: new Date(start), first: new Date(first), found });
  }
  t.pass('all drawn');
  t.end();
});
