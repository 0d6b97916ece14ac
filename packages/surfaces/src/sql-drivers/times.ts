/** `2026-01-02 03:04:05.6+00`, the format of databases. */
const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(\+00)?$/;
const MILLIS = 3;

/** ISO 8601, with Z if the column has a zone, and at least milliseconds. Other text is unchanged. */
export function isoTime(text: string, hasZone = false): string {
  const [, date, time, fraction = '', zone] = TIME.exec(text) ?? [];
  if (date === undefined) return text;
  const digits = fraction.replace(/0+$/, '').padEnd(MILLIS, '0');
  return `${date}T${time}.${digits}${zone || hasZone ? 'Z' : ''}`;
}
