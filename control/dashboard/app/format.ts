// How figures, times, money and numbers are written on the screen. PURE: the time now is an argument, and the texts are
// English whatever the browser's language is, so that one screen does not mix two.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A stretch of time as people read it: `0.8 s`, `12 s`, `3 min 5 s`, `1 h 2 min`. Null: a dash. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '–';
  if (ms < 0) return duration(0);
  if (ms < 10 * SECOND) return `${trimmed(ms / SECOND, 1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

/** A latency: `640 ms` under a second, `1.24 s` from there. */
export function latency(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '–';
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(2)} s`;
}

/** A position in time: `0:07`, `12:30`, `1:02:03`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / SECOND));
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

/**
 * Milli-cents (thousandths of a cent) as dollars: whole cents from a dollar on, four places below, so that amounts of one
 * kind line up; nothing of anything is `$0.00`. Null: a dash.
 */
export function money(milliCents: number | null | undefined): string {
  if (milliCents === null || milliCents === undefined || !Number.isFinite(milliCents)) return '–';
  const size = Math.abs(milliCents) / MILLI_CENTS_A_DOLLAR;
  const sign = milliCents < 0 ? '−' : '';
  if (size > 0 && size < 0.0001) return `${sign}<$0.0001`;
  return `${sign}$${dollars(size, size === 0 || size >= 0.99995 ? 2 : 4)}`;
}

/** The same at the axis of a chart, whose steps are round: no more places than they need, two at least. */
export function moneyTick(milliCents: number | null | undefined): string {
  const text = money(milliCents);
  return text.replace(/(\.\d\d\d*?)0+$/, '$1');
}

const MILLI_CENTS_A_DOLLAR = 100_000;
const dollars = (size: number, places: number) =>
  size.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places });

/** A share of one as per cent: `97.5 %`; nothing of nothing is a dash. */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined || !Number.isFinite(share)
    ? '–'
    : `${trimmed(share * 100, share > 0.1 && share < 0.9 ? 0 : 1)} %`;
}

/** A whole count with separators. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : value.toLocaleString('en-US');
}

/** `one` for 1, else `many`, each behind its count. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** An amount of what the API names in the plural: 1 minute, 2 machine detections. */
export function usedOf(name: string, amount: number): string {
  const many = name.replaceAll('_', ' ');
  const shown = Number(amount.toFixed(1));
  return `${shown.toLocaleString('en-US')} ${shown === 1 ? many.replace(/s$/, '') : many}`;
}

export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let at = 0;
  let size = value;
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000;
    at++;
  }
  return `${trimmed(size, size < 10 && at > 0 ? 1 : 0)} ${units[at]}`;
}

/** How long ago, or until: `just now`, `4 min ago`, `in 2 h`, and the date from a week on. */
export function relativeTime(iso: string, nowMs: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return '–';
  const ago = nowMs - at;
  const size = Math.abs(ago);
  const say = (text: string) => (ago >= 0 ? `${text} ago` : `in ${text}`);
  if (size < 5 * SECOND) return 'just now';
  if (size < MINUTE) return say(`${Math.floor(size / SECOND)} s`);
  if (size < HOUR) return say(`${Math.floor(size / MINUTE)} min`);
  if (size < DAY) return say(`${Math.floor(size / HOUR)} h`);
  if (size < 7 * DAY) return say(counted(Math.floor(size / DAY), 'day'));
  return date(iso, nowMs);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `3 Mar`, with the year when it is another one than now's. In the reader's time zone. */
export function date(iso: string, nowMs: number): string {
  const at = new Date(iso);
  const year = at.getFullYear() === new Date(nowMs).getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${at.getDate()} ${MONTHS[at.getMonth()] ?? ''}${year}`;
}

/** The whole of it, in the reader's time zone: `3 Mar 2026, 14:05:09`. */
export function absoluteTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return `${at.getDate()} ${MONTHS[at.getMonth()] ?? ''} ${at.getFullYear()}, ${timeOfDay(iso)}`;
}

/** `14:05:09`. */
export function timeOfDay(iso: string): string {
  const at = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** An E.164 number in groups that can be read aloud. Numbers of the North American plan have their own; all others are
 *  split after a known country code, and in threes. What is not a number (`anonymous`) stays as it is. */
export function phone(e164: string): string {
  const american = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(e164);
  if (american !== null) return `+1 ${american[1]} ${american[2]} ${american[3]}`;
  const other = /^\+(7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(\d{4,12})$/.exec(e164);
  if (other === null) return e164;
  const groups = (other[2] ?? '').match(/\d{3}(?=\d{2})|\d+/g) ?? [];
  return `+${other[1]} ${groups.join(' ')}`;
}

/** `no_answer` -> `No answer`. */
export function words(code: string): string {
  const text = code.replaceAll('_', ' ').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** With a capital at its start and a stop at its end. */
export function sentence(text: string): string {
  const trimmedText = text.trim();
  const whole = trimmedText.charAt(0).toUpperCase() + trimmedText.slice(1);
  return /[.!?]$/.test(whole) || whole === '' ? whole : `${whole}.`;
}
