/** Whole numbers and decimals, as servers write them. */

const PLAIN = /^-?\d+(?:\.\d+)?$/;

/** A number where one prints the same digits, else text. Without trailing zeros: `2.50` is 2.5. */
export function decimalOf(text: string): number | string {
  if (!PLAIN.test(text)) return text;
  const short = withoutZeros(text);
  // Never -0, which servers make of -0.001 when they round it
  const number = Number(short) || 0;
  const isHeld = short.includes('.')
    ? digitsOf(String(number)) === digitsOf(short)
    : Number.isSafeInteger(number);
  return isHeld ? number : short;
}

/** No regular expression: on a thousand zeros inside, `0+$` takes the square of their number. */
function withoutZeros(text: string): string {
  if (!text.includes('.')) return text;
  let end = text.length;
  while (text[end - 1] === '0') end--;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}

/** `0.00000015` and `1.5e-7` have the same. */
const digitsOf = (text: string): string => text.replace(/e.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '');
