/** Integers and decimals in the text format of servers. */

const PLAIN = /^-?\d+(?:\.\d+)?$/;

/** A number if it prints the same digits, else text. Without trailing zeros: `2.50` is 2.5. */
export function decimalOf(text: string): number | string {
  if (!PLAIN.test(text)) return text;
  const short = withoutZeros(text);
  // Never -0, which servers return when they round -0.001
  const number = Number(short) || 0;
  const isHeld = short.includes('.')
    ? digitsOf(String(number)) === digitsOf(short)
    : Number.isSafeInteger(number);
  return isHeld ? number : short;
}

/** No regular expression: `0+$` takes quadratic time on a thousand zeros inside. */
function withoutZeros(text: string): string {
  if (!text.includes('.')) return text;
  let end = text.length;
  while (text[end - 1] === '0') end--;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}

/** The significant digits: equal for `0.00000015` and `1.5e-7`. */
const digitsOf = (text: string): string => text.replace(/e.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '');
