/** Lists of numbers, which the runner of a pack packs into bytes (`sandbox/src/runner/numbers.mjs`). */
import Type from 'typebox';

export type Numbers = readonly number[] | { readonly float32: Uint8Array };

interface Bounds {
  readonly maxItems: number;
  /** The largest absolute value. */
  readonly valueMax: number;
}

/** Pack code passes `number[]`. Packed numbers are checked in one loop, without a call per number. */
export const numbersType = ({ maxItems, valueMax }: Bounds) =>
  Type.Refine(
    Type.Unsafe<Numbers>({
      items: Type.Number({ minimum: -valueMax, maximum: valueMax }),
      minItems: 1,
      maxItems,
    }),
    (value) => Array.isArray(value) || isPacked(value, { maxItems, valueMax }),
    () => `must be a list of 1 to ${maxItems} numbers from ${-valueMax} to ${valueMax}`,
  );

function isPacked(value: unknown, { maxItems, valueMax }: Bounds): boolean {
  const bytes: unknown = Object(value).float32;
  if (!(bytes instanceof Uint8Array) || bytes.byteLength % Float32Array.BYTES_PER_ELEMENT !== 0) return false;
  const numbers = unpacked(bytes);
  if (numbers.length === 0 || numbers.length > maxItems) return false;
  // Rounded to 32 bits, the bound may be slightly larger
  const max = Math.fround(valueMax);
  for (let at = 0; at < numbers.length; at++) if (!(Math.abs(numbers[at]!) <= max)) return false;
  return true;
}

/** A part of a frame has its own memory, so its bytes are aligned. */
const unpacked = ({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array =>
  new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);

export const floatsOf = (numbers: Numbers): Float32Array =>
  'float32' in numbers ? unpacked(numbers.float32) : Float32Array.from(numbers);
