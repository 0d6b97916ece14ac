/** Maximum length of a run or workflow id on the wire. */
export const RUN_ID_MAX = 128;

export const isId = (text: string): boolean => text.length >= 1 && text.length <= RUN_ID_MAX;

/** Crockford's base 32: no i, l, o, u. Its order is ASCII order, so ids sort by time as text. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_DIGITS = 10;
const RANDOM_BYTES = 10;
const UNDERSCORE = 0x5f;

/**
 * `run_` and a lower-case ULID: 48 bits of milliseconds, then 80 random bits.
 * @example newRunId(Date.now(), randomBytes) // 'run_01k5v2h0q8m3x9t4z7c6b1n0da'
 */
export const newRunId = (now: number, random: (bytes: number) => Uint8Array): string =>
  newId('run', now, random);

/** An id of that form with another prefix. Built in one piece: a concatenated string costs extra at each use. */
export function newId(prefix: string, now: number, random: (bytes: number) => Uint8Array): string {
  const codes: number[] = [];
  for (let i = 0; i < prefix.length; i++) codes.push(prefix.charCodeAt(i));
  codes.push(UNDERSCORE);
  pushTimeDigits(codes, now);
  pushRandomDigits(codes, random(RANDOM_BYTES));
  return String.fromCharCode(...codes);
}

/** The creation time of an id of that form; undefined for any other text. */
export function timeOfId(id: string): number | undefined {
  const match = /^[a-z]+_([0-9a-hjkmnp-tv-z]{26})$/.exec(id);
  if (!match) return;
  let time = 0;
  for (const digit of match[1]!.slice(0, TIME_DIGITS)) time = time * 32 + DIGITS.indexOf(digit);
  return time;
}

/** 48 bits do not fit the 32-bit operators, so the digits are computed by division. */
function pushTimeDigits(codes: number[], now: number): void {
  const time = Math.floor(now);
  for (let unit = 32 ** (TIME_DIGITS - 1); unit >= 1; unit /= 32)
    codes.push(DIGITS.charCodeAt(Math.floor(time / unit) % 32));
}

function pushRandomDigits(codes: number[], bytes: Uint8Array): void {
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    // At most 4 bits are pending, so 12 bits hold them and the new byte.
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      codes.push(DIGITS.charCodeAt((buffer >>> bits) & 31));
    }
  }
}
