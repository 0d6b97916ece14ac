/** `2026-01-02 03:04:05.6+00`, as databases write it. */
const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(\+00)?$/;
const MILLIS = 3;

/** ISO 8601, with Z when the column has a zone, and with at least milliseconds. Anything else stays as it is. */
export function isoTime(text: string, hasZone = false): string {
  const [, date, time, fraction = '', zone] = TIME.exec(text) ?? [];
  if (date === undefined) return text;
  const digits = fraction.replace(/0+$/, '').padEnd(MILLIS, '0');
  return `${date}T${time}.${digits}${zone || hasZone ? 'Z' : ''}`;
}
