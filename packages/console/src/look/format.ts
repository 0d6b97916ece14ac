/** Numbers, times and ids as text. `Intl` knows how people write them; what is exact is always one step away. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const;

const once = <T>(make: (locale: string | undefined) => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make(globalThis.navigator?.language));
};

const relative = once((locale) => new Intl.RelativeTimeFormat(locale, { style: 'narrow' }));
const plain = once((locale) => new Intl.NumberFormat(locale));
const money = once(
  (locale) =>
    new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }),
);
const units = new Map<string, Intl.NumberFormat>();

function inUnit(count: number, unit: string, digits = 0): string {
  const key = `${unit}${digits}`;
  let format = units.get(key);
  if (format === undefined) {
    const options = { style: 'unit', unit, unitDisplay: 'narrow', maximumFractionDigits: digits } as const;
    format = new Intl.NumberFormat(globalThis.navigator?.language, options);
    units.set(key, format);
  }
  return format.format(count);
}

/** @example duration(4_120) // '4.1s' */
export function duration(ms: number): string {
  const size = Math.max(0, ms);
  if (size < SECOND) return inUnit(Math.round(size), 'millisecond');
  if (size < MINUTE) return inUnit(Math.floor(size / 100) / 10, 'second', 1);
  const at = UNITS.findIndex(([, unitMs]) => size >= unitMs);
  const [unit, unitMs] = UNITS[at]!;
  const [next, nextMs] = UNITS[at + 1]!;
  const rest = Math.floor((size % unitMs) / nextMs);
  const whole = inUnit(Math.floor(size / unitMs), unit);
  return rest === 0 ? whole : `${whole} ${inUnit(rest, next)}`;
}

/** @example ago(now - 3 * HOUR, now) // '3h ago' */
export function ago(at: number, now: number): string {
  const ms = at - now;
  const size = Math.abs(ms);
  const [unit, unitMs] = UNITS.find(([, each]) => size >= each) ?? UNITS[3]!;
  // Negative zero is "0s ago", which stays when the moment has passed
  return relative().format(Math.trunc(ms / unitMs) || -0, unit);
}

/** When the text of `ago` changes next. */
export function agoChangesIn(at: number, now: number): number {
  const size = Math.abs(at - now);
  const [, unitMs] = UNITS.find(([, each]) => size >= each) ?? UNITS[3]!;
  return at > now ? (size % unitMs) + 1 : unitMs - (size % unitMs);
}

const moments = new Map<string, Intl.DateTimeFormat>();

/** The whole time, in the zone that the person chose. */
export function moment(at: number, zone: 'local' | 'utc'): string {
  let format = moments.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(globalThis.navigator?.language, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
      ...(zone === 'utc' && { timeZone: 'UTC' }),
    });
    moments.set(zone, format);
  }
  return format.format(at);
}

export const count = (value: number): string => plain().format(value);

/** @example cost(0.004) // '<$0.01' */
export function cost(usd: number): string {
  if (usd > 0 && usd < 0.01) return `<${money().format(0.01)}`;
  return money().format(usd);
}

const HEAD = 8;
const TAIL = 4;

/** @example shortId('run_01m7gq90vvym6e2adc9249prdm') // 'run_01m7…prdm' */
export const shortId = (id: string): string =>
  id.length <= HEAD + TAIL + 3 ? id : `${id.slice(0, HEAD)}…${id.slice(-TAIL)}`;
