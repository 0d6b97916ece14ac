/** Explains to its author why a value cannot be sent. Used only after a send has failed. */
import { DEPTH_MAX, unsayable } from './data.mjs';

const LOOKS_MAX = 1_000_000;
const PATH_LENGTH_MAX = 200;

const isBytes = (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value);
const isTree = (value) => typeof value === 'object' && value !== null && !isBytes(value);

function under(path, owner, key) {
  if (Array.isArray(owner)) return `${path}[${key}]`;
  if (!/^[\w$]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** The path of an argument. Members of a single argument are named without it: `put({ key, value })` has `value`. */
const argumentPath = (args, index) => (args.length === 1 ? '' : `argument ${index + 1}`);
const shown = (path) => (path === '' ? 'the argument' : path.slice(0, PATH_LENGTH_MAX));

function faultOf(value, ancestors) {
  if (typeof value === 'bigint') return 'is a BigInt; send a string.';
  const problem = unsayable(value);
  if (problem) return problem;
  if (!isTree(value)) return undefined;
  if (value instanceof Promise) return 'is a Promise; is an `await` missing?';
  if (ancestors.includes(value)) return 'refers back to what it is part of; JSON cannot represent that.';
  return ancestors.length > DEPTH_MAX ? `lies more than ${DEPTH_MAX} levels deep.` : undefined;
}

/** `value.total is a BigInt; send a string`, for the first such value. */
function firstFault(value, path, ancestors, looks) {
  const fault = faultOf(value, ancestors);
  if (fault !== undefined) return `${shown(path)} ${fault}`;
  if (!isTree(value) || looks.left-- <= 0) return undefined;
  if (typeof value.toJSON === 'function')
    return firstFault(value.toJSON(), path, [...ancestors, value], looks);
  ancestors.push(value);
  for (const key of Object.keys(value)) {
    const found = firstFault(value[key], under(path, value, key), ancestors, looks);
    if (found !== undefined) return found;
  }
  ancestors.pop();
  return undefined;
}

/** The approximate size in bytes. */
function weigh(value, looks) {
  if (typeof value === 'string') return value.length;
  if (!isTree(value)) return value?.byteLength ?? 8;
  let weight = 2;
  for (const key of Object.keys(value)) {
    if (looks.left-- <= 0) break;
    weight += key.length + weigh(value[key], looks);
  }
  return weight;
}

/** The path of the member that holds most of the value. */
function heaviest(value, path) {
  if (!isTree(value) || Array.isArray(value)) return path;
  const half = weigh(value, { left: LOOKS_MAX }) / 2;
  const key = Object.keys(value).find((name) => weigh(value[name], { left: LOOKS_MAX }) > half);
  return key === undefined ? path : heaviest(value[key], under(path, value, key));
}

function attempt(look) {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** `undefined` when no problem is found. */
export const whyUnsendable = (value, path) => attempt(() => firstFault(value, path, [], { left: LOOKS_MAX }));

export const whyArguments = (args) =>
  attempt(() => {
    for (const [index, value] of args.entries()) {
      const found = firstFault(value, argumentPath(args, index), [], { left: LOOKS_MAX });
      if (found !== undefined) return found;
    }
    return undefined;
  });

/** The path of the part that makes a value too large; an empty path is the value itself. */
export const largestIn = (value, path) => attempt(() => heaviest(value, path)) ?? path;

export function largestArgument(args) {
  if (args.length === 1) return shown(largestIn(args[0], ''));
  const weights = args.map((value) => attempt(() => weigh(value, { left: LOOKS_MAX })) ?? 0);
  const index = weights.indexOf(Math.max(...weights));
  return shown(largestIn(args[index], argumentPath(args, index)));
}

/** JSON omits functions. This lets an error about a missing member mention that. */
export function leftOut(args) {
  const found = attempt(() =>
    args.flatMap((value, index) => {
      const path = argumentPath(args, index);
      if (typeof value === 'function') return [shown(path)];
      if (!isTree(value) || Array.isArray(value)) return [];
      const names = Object.keys(value).filter((key) => typeof value[key] === 'function');
      return names.map((key) => shown(under(path, value, key)));
    }),
  );
  return found?.length > 0 ? ` A function cannot be sent: ${found.join(', ')} was left out.` : '';
}
