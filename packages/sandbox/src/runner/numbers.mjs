/**
 * Packs vectors as bytes, 32 bits for each number, as they are stored. As JSON they take most of the time of a
 * call, and while the host reads it, it reads nothing else of the tenant. `packed-numbers.ts` of the surfaces
 * is the counterpart.
 */
const NAMES = ['embedding', 'vector'];
const { isArray } = Array;
const { isFinite: isFiniteNumber } = Number;

/** Other lists stay unchanged: the schema of the method reports what is wrong with them. */
function packed(list) {
  const numbers = new Float32Array(list.length);
  for (let at = 0; at < numbers.length; at++) {
    const number = list[at];
    if (!isFiniteNumber(number)) return list;
    numbers[at] = number;
  }
  return { float32: new Uint8Array(numbers.buffer) };
}

function packMembers(value, packList) {
  if (typeof value !== 'object' || value === null) return value;
  const lists = Object.keys(value).filter((name) => isArray(value[name]));
  if (lists.length === 0) return value;
  const copy = { ...value };
  for (const name of lists) copy[name] = NAMES.includes(name) ? packed(value[name]) : packList(value[name]);
  return copy;
}

/** Packs vectors of the argument itself, and of the objects in its lists. */
export const packNumbers = (argument) =>
  packMembers(argument, (list) => list.map((item) => packMembers(item, (inner) => inner)));
