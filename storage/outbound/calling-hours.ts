// Calling hours where the other side is: open or not, and when they begin next. PURE.
// What clocks show comes from Intl, so that a change of clocks moves the hours as it moves the people. Where a number may be
// in several zones, all of them must be open.

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

/** Each of the days from one time of the clock until before another: `08:00` to `21:00`; `24:00` is the day's end. */
export interface CallingHours {
  from: string;
  to: string;
  days: readonly Day[];
}

export interface HoursThere {
  open: boolean;
  /** What the clocks show, each different time once, with a zone that shows it: `2026-03-01T08:05`. */
  local: { zone: string; time: string }[];
  /** When all are open; null where that is not within the next days, or no zone is known. */
  opensAt: Date | null;
}

interface LocalTime {
  year: number;
  month: number;
  day: number;
  /** Of the day. */
  minute: number;
  weekday: Day;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** As far as a next opening is looked for: each day of the week comes, and where a day's hours fall into a change of clocks, the next. */
const LOOK_AHEAD_DAYS = 15;

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for what is no zone */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  formats.set(zone, made);
  return made;
}

const QUARTER_MS = 15 * MINUTE_MS;
/** Of each zone, the quarter of an hour that was asked for last: a call asks for the same one several times. */
const quarters = new Map<string, { began: number; there: LocalTime }>();

/** Clocks are a multiple of a quarter of an hour from UTC, and are changed at one. */
function localTime(zone: string, ms: number): LocalTime {
  const began = Math.floor(ms / QUARTER_MS) * QUARTER_MS;
  let quarter = quarters.get(zone);
  if (quarter?.began !== began) {
    quarter = { began, there: readClock(zone, began) };
    quarters.set(zone, quarter);
  }
  const { there } = quarter;
  return { ...there, minute: there.minute + Math.floor((ms - began) / MINUTE_MS) };
}

function readClock(zone: string, ms: number): LocalTime {
  const at: Record<string, string> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) at[type] = value;
  return {
    year: Number(at.year),
    month: Number(at.month),
    day: Number(at.day),
    minute: Number(at.hour) * 60 + Number(at.minute),
    weekday: at.weekday?.toLowerCase() as Day,
  };
}

const two = (value: number) => String(value).padStart(2, '0');
const clockText = (minute: number) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
const textOf = ({ year, month, day, minute }: LocalTime) =>
  `${year}-${two(month)}-${two(day)}T${clockText(minute)}`;

function isOpen(hours: CallingHours, { minute, weekday }: LocalTime): boolean {
  return hours.days.includes(weekday) && minute >= minutesOf(hours.from) && minute < minutesOf(hours.to);
}

/** A local time as if its clock were UTC's. */
const asUtc = ({ year, month, day, minute }: LocalTime) =>
  Date.UTC(year, month - 1, day) + minute * MINUTE_MS;

/** The moments at which a zone's clock comes to a time of a day, in order; where clocks jump over it, the moment of the jump. */
function momentsOf(zone: string, wanted: number): number[] {
  const ahead = (ms: number) => asUtc(localTime(zone, ms)) - Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  // A zone is at most 14 hours from UTC, and changes its clock less than once a day.
  const moments = [...new Set([wanted - ahead(wanted - DAY_MS), wanted - ahead(wanted + DAY_MS)])];
  const there = moments.filter((ms) => ms + ahead(ms) === wanted).sort((a, b) => a - b);
  if (there.length > 0) return there;
  let [before, after] = [Math.min(...moments), Math.max(...moments)];
  while (after - before > MINUTE_MS) {
    const middle = before + Math.floor((after - before) / 2 / MINUTE_MS) * MINUTE_MS;
    if (middle + ahead(middle) < wanted) before = middle;
    else after = middle;
  }
  return [after];
}

/** The first moment from `ms` on at which one zone is open; null when it is not within the days looked at. */
function opensIn(hours: CallingHours, zone: string, ms: number): number | null {
  const now = localTime(zone, ms);
  if (isOpen(hours, now)) return ms;
  const midnight = Date.UTC(now.year, now.month - 1, now.day);
  for (let day = 0; day <= LOOK_AHEAD_DAYS; day++) {
    const wanted = midnight + day * DAY_MS + minutesOf(hours.from) * MINUTE_MS;
    for (const moment of momentsOf(zone, wanted)) {
      if (moment >= ms && isOpen(hours, localTime(zone, moment))) return moment;
    }
  }
  return null;
}

function opensInAll(hours: CallingHours, zones: readonly string[], ms: number): number | null {
  let at = ms;
  while (at - ms <= LOOK_AHEAD_DAYS * DAY_MS) {
    const before = at;
    for (const zone of zones) {
      const opens = opensIn(hours, zone, at);
      if (opens === null) return null;
      at = opens;
    }
    if (at === before) return at;
  }
  return null;
}

/** No restriction at all. */
export function isAlways(hours: CallingHours | null): boolean {
  return (
    hours === null || (hours.from === '00:00' && hours.to === '24:00' && hours.days.length === DAYS.length)
  );
}

/** @param hours null: any time. With no zone known, nothing is open but where any time is. */
export function hoursThere(hours: CallingHours | null, zones: readonly string[], at: Date): HoursThere {
  const ms = at.getTime();
  const local: HoursThere['local'] = [];
  let open = zones.length > 0;
  for (const zone of zones) {
    const time = localTime(zone, ms);
    const text = textOf(time);
    if (!local.some((one) => one.time === text)) local.push({ zone, time: text });
    if (hours !== null && !isOpen(hours, time)) open = false;
  }
  if (hours === null || isAlways(hours)) return { open: true, local, opensAt: at };
  if (open) return { open, local, opensAt: at };
  const opens = zones.length === 0 ? null : opensInAll(hours, zones, ms);
  return { open, local, opensAt: opens === null ? null : new Date(opens) };
}
