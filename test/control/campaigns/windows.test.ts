// Hours of campaigns: within them or not, in one zone and several, and over days on which clocks are set.
import t from 'tap';
import { isOpen, isZone, nextOpening } from '../../../control/campaigns/windows.ts';
import type { CallingWindow, Weekday } from '../../../storage/campaign-records.ts';
import { seeded } from '../../random.ts';

const WEEK: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const OFFICE: CallingWindow[] = [{ days: WEEK.slice(0, 5), from: '09:00', to: '17:30' }];
const at = (time: string) => Date.parse(time);
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16));

const open: [string, string[], string, boolean][] = [
  ['its first minute', ['Europe/Berlin'], '2026-03-02T08:00:00Z', true],
  ['the minute before', ['Europe/Berlin'], '2026-03-02T07:59:59Z', false],
  ['its last minute', ['Europe/Berlin'], '2026-03-02T16:29:59Z', true],
  ['its end', ['Europe/Berlin'], '2026-03-02T16:30:00Z', false],
  ['a Sunday', ['Europe/Berlin'], '2026-03-01T10:00:00Z', false],
  ['a Sunday here and a Monday there', ['Pacific/Auckland'], '2026-03-01T21:00:00Z', true],
  ['both coasts', ['America/New_York', 'America/Los_Angeles'], '2026-03-02T18:00:00Z', true],
  ['one coast only', ['America/New_York', 'America/Los_Angeles'], '2026-03-02T15:00:00Z', false],
  ['summer time has begun', ['Europe/Berlin'], '2026-03-30T07:00:00Z', true],
];
for (const [name, zones, time, is] of open)
  t.test(`${name}: ${is ? 'open' : 'closed'}`, async (t) => t.equal(isOpen(OFFICE, zones, at(time)), is));

const next: [string, string[], CallingWindow[], string, string | null][] = [
  ['now', ['Europe/Berlin'], OFFICE, '2026-03-02T10:00:00Z', '2026-03-02T10:00'],
  ['over the weekend', ['Europe/Berlin'], OFFICE, '2026-02-28T10:00:00Z', '2026-03-02T08:00'],
  [
    'over the night before summer time',
    ['Europe/Berlin'],
    OFFICE,
    '2026-03-27T20:00:00Z',
    '2026-03-30T07:00',
  ],
  [
    'the later coast',
    ['America/New_York', 'America/Los_Angeles'],
    OFFICE,
    '2026-03-02T15:00:00Z',
    '2026-03-02T17:00',
  ],
  [
    'next week',
    ['UTC'],
    [{ days: ['mon'], from: '09:00', to: '10:00' }],
    '2026-03-02T10:00:00Z',
    '2026-03-09T09:00',
  ],
  [
    'never in both',
    ['UTC', 'Pacific/Auckland'],
    [{ days: ['mon'], from: '09:00', to: '10:00' }],
    '2026-03-02T10:00:00Z',
    null,
  ],
  ['half hours of a zone', ['Asia/Kolkata'], OFFICE, '2026-03-02T00:00:00Z', '2026-03-02T03:30'],
];
for (const [name, zones, windows, from, wanted] of next)
  t.test(`opens: ${name}`, async (t) => t.equal(iso(nextOpening(windows, zones, at(from))), wanted));

t.test('without windows it is open at any time', async (t) => {
  t.equal(isOpen([], ['UTC'], 0), true);
  t.equal(nextOpening([], ['UTC'], 5), 5);
  t.same(['Europe/Berlin', 'Mars/Olympus'].map(isZone), [true, false]);
});

t.test('an opening is open, and the hour before it is not: 2,000 draws over a year', async (t) => {
  const random = seeded(14);
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'UTC',
    'America/St_Johns',
  ];
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const two = (value: number) => String(value).padStart(2, '0');
  let waited = 0;
  for (let draw = 0; draw < 2_000; draw++) {
    const hour = Math.floor(random() * 20);
    const from = `${two(hour)}:${pick(['00', '15', '30'])}`;
    const windows = [
      { days: [pick(WEEK), pick(WEEK)], from, to: `${two(hour + 2 + Math.floor(random() * 3))}:00` },
    ];
    const of = random() < 0.7 ? [pick(zones)] : [pick(zones), pick(zones)];
    const start = at('2026-01-01T00:00:00Z') + Math.floor(random() * 365 * 86_400) * 1_000;
    const opening = nextOpening(windows, of, start);
    if (opening === null) {
      t.equal(of.length, 2, 'one zone always has an opening');
      continue;
    }
    if (opening < start || !isOpen(windows, of, opening)) t.fail('not open', { windows, of, start, opening });
    // Between the two nothing was open for two hours on end, which is more than a change of clocks.
    for (let ms = start; ms < opening - 2 * 3_600_000; ms += 1_800_000) {
      if (isOpen(windows, of, ms) && isOpen(windows, of, ms + 3_600_000))
        t.fail('it was open before', { windows, of, start, opening, ms });
    }
    if (opening > start) waited++;
  }
  t.ok(waited > 500, `${waited} waits`);
});
