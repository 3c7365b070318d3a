// Hours in which a campaign calls: whether a moment is within them in every zone that counts, and when it will be. PURE.
import type { CallingWindow, Weekday } from '../../storage/campaign-records.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A week, and the day on which it begins again. */
const LOOK_DAYS = 8;

interface LocalTime {
  day: Weekday;
  /** Of the day. */
  minute: number;
  year: number;
  month: number;
  date: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether there is such a zone. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** @throws RangeError for no zone */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    formats.set(zone, format);
  }
  return format;
}

function localTime(zone: string, atMs: number): LocalTime {
  const parts: Record<string, string> = {};
  for (const { type, value } of formatOf(zone).formatToParts(atMs)) parts[type] = value;
  return {
    day: (parts.weekday ?? '').toLowerCase() as Weekday,
    minute: Number(parts.hour) * 60 + Number(parts.minute),
    year: Number(parts.year),
    month: Number(parts.month),
    date: Number(parts.day),
  };
}

/** `HH:MM` as minutes of a day; 24:00 is its end. */
export function minuteOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}

/** Whether the moment is within a window in each of the zones. Without windows it always is. */
export function isOpen(windows: readonly CallingWindow[], zones: readonly string[], atMs: number): boolean {
  if (windows.length === 0) return true;
  return zones.every((zone) => {
    const { day, minute } = localTime(zone, atMs);
    return windows.some(
      ({ days, from, to }) => days.includes(day) && minute >= minuteOf(from) && minute < minuteOf(to),
    );
  });
}

/** How far a zone is before UTC at a moment. */
function offsetMs(zone: string, atMs: number): number {
  const { year, month, date, minute } = localTime(zone, atMs);
  return Date.UTC(year, month - 1, date, 0, minute) - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

/** The moments that may be so many minutes into a local day, with the one that a clock set forth makes of it. */
function momentsOf(zone: string, dayMs: number, minute: number): number[] {
  const { year, month, date } = localTime(zone, dayMs);
  const local = Date.UTC(year, month - 1, date, 0, minute);
  const near = local - offsetMs(zone, local);
  const moment = local - offsetMs(zone, near);
  return [moment, moment + 60 * MINUTE_MS];
}

/**
 * The first moment from `fromMs` on that is within the windows in every zone; null where they have none in common for a
 * week. It may be later than it could be by an hour, on the day on which clocks are set; it is never outside.
 */
export function nextOpening(
  windows: readonly CallingWindow[],
  zones: readonly string[],
  fromMs: number,
): number | null {
  if (isOpen(windows, zones, fromMs)) return fromMs;
  // What all zones have in common begins where the window of one begins.
  const moments = zones.flatMap((zone) =>
    Array.from({ length: LOOK_DAYS + 1 }, (_, day) =>
      windows.flatMap(({ from }) => momentsOf(zone, fromMs + (day - 1) * DAY_MS, minuteOf(from))),
    ).flat(),
  );
  const later = moments.filter((moment) => moment > fromMs).sort((a, b) => a - b);
  return later.find((moment) => isOpen(windows, zones, moment)) ?? null;
}
