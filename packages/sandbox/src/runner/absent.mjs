/**
 * Members of ctx that the host does not offer to the pack. They are absent, since packs test for them; a call of one
 * fails with `host_capability_missing`, which the host replaces if it only denies the member to this pack. An error is attributed to a read of an absent member only if it names that
 * member, or happened at the exact location of the read: packs also test for members that they do not need.
 */
import { framesOf, here, stackOf } from './frames.mjs';

const Watched = Proxy;
const READS_MAX = 300;
const LISTED_MAX = 12;

const NOT_A_FUNCTION = /^(\S+) is not a function$/;
const OF_UNDEFINED = /^Cannot read properties of undefined \(reading '([\w$]+)'\)$/;
const COLUMN = /^(.*:)(\d+)$/;

/** Reads of absent members, in order. */
export const newAbsences = () => [];

/** The same object, recording reads of absent members. `path` ends with a dot, or is empty. */
export const watched = (object, path, absences) =>
  new Watched(object, {
    get: function get(target, name) {
      if (typeof name === 'string' && !(name in target) && absences.length < READS_MAX)
        absences.push({ owner: target, path, name, site: here(get) });
      return target[name];
    },
  });

const pathOf = ({ path, name }) => `${path}${name}`;
const locationOf = ({ site }) => framesOf(stackOf(site))[0];

/** `kv.nope` and `c.storage.kv.nope` name `storage.kv.nope`, and so does a bare `nope`; `orders.nope` does not. */
function isNamed(expression, read) {
  const said = expression.split(/\??\./).toReversed();
  const meant = pathOf(read).split('.').toReversed();
  const length = Math.min(said.length, meant.length);
  if (length === 1 && said.length > 1) return false;
  return said.slice(0, length).every((name, at) => name === meant[at]);
}

/** In `ctx.graph.query`, the read of `query` directly follows the read of `graph`. */
function isRightBefore(read, location) {
  const [, line, column] = COLUMN.exec(locationOf(read) ?? '') ?? [];
  return line !== undefined && location === `${line}${Number(column) + read.name.length + 1}`;
}

/** The read that caused an error, and the path that the pack tried to use. `surfaces` has those that are denied. */
function culprit(absences, surfaces, { message, frames: [location] = [] }) {
  const expression = NOT_A_FUNCTION.exec(message)?.[1];
  if (expression !== undefined) {
    const isHere = (read) => location !== undefined && locationOf(read) === location;
    const read = absences.findLast((one) => isHere(one) || isNamed(expression, one));
    return read && { read, asked: pathOf(read) };
  }
  const member = OF_UNDEFINED.exec(message)?.[1];
  if (member === undefined || location === undefined) return undefined;
  const denied = Object.keys(surfaces).filter((path) => surfaces[path] === 'denied');
  const isDenied = (path) => denied.some((each) => `${each}.`.startsWith(`${path}.`));
  const read = absences.findLast(
    (one) => isRightBefore(one, location) || isDenied(`${pathOf(one)}.${member}`),
  );
  return read && { read, asked: `${pathOf(read)}.${member}` };
}

/** The number of common letters, from the beginning or because one contains the other. */
function likeness(one, other) {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if (a.includes(b) || b.includes(a)) return Math.min(a.length, b.length);
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** The members that exist, similar names first. */
function alternatives({ owner, path, name }) {
  const names = Object.keys(owner).sort();
  const alike = names.toSorted((a, b) => likeness(b, name) - likeness(a, name));
  const more = names.length > LISTED_MAX ? ` and ${names.length - LISTED_MAX} more` : '';
  return `${`ctx.${path}`.slice(0, -1)} has ${alike.slice(0, LISTED_MAX).join(', ')}${more}`;
}

/** Adds the missing capability to an error without a code that was caused by an absent member. */
export function withAbsence({ absences, surfaces }, error) {
  if (error.code !== undefined) return error;
  const found = culprit(absences, surfaces, error);
  if (found === undefined) return error;
  const { read, asked } = found;
  const message = `${error.message}: this host does not offer ctx.${asked}. ${alternatives(read)}. Test for what a host may lack before calling it.`;
  const details = { ...error.details, capability: `host.${asked}` };
  return { ...error, message, code: 'host_capability_missing', details };
}
