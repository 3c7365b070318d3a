// Dates and times as a model may give them: forms and the real calendar. PURE.

/** A real calendar date, YYYY-MM-DD. */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return year > 0 && days !== undefined && day >= 1 && day <= days;
}

// ISO 8601 in the form of RFC 3339, but seconds and offset may be missing: on the phone "three o'clock" names no zone.
const DATETIME =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/;

/** A real date and time in ISO 8601; seconds and offset may be missing. */
export function isDatetime(text: string): boolean {
  const match = DATETIME.exec(text);
  return match !== null && isDate(match[1] ?? '');
}
