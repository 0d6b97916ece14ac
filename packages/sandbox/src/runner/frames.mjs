/** Locations in the pack: the lines of a stack that are in its folder, relative to it. */
import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { captureStackTrace } = Error;
const FRAMES_MAX = 5;
const STACK_LENGTH_MAX = 16_384;
const LOCATION = /^[^\s:]+(?::\d+){1,2}(?=\)?$)/;

let prefixes = [];

export function setPackFolder(folder) {
  const root = `${realpathSync(folder)}/`;
  prefixes = [pathToFileURL(root).href, root];
}

/** `    at fn (file:///pack/index.mjs:3:5)`; a syntax error begins with its location instead. */
function locationIn(line) {
  for (const prefix of prefixes) {
    const start = line.indexOf(prefix);
    if (start === 0 || (start > 0 && /^\s+at /.test(line)))
      return LOCATION.exec(line.slice(start + prefix.length))?.[0];
  }
  return undefined;
}

/** `['lib/order.mjs:12:5', 'index.mjs:195:22']`, innermost first. */
export function framesOf(stack) {
  if (typeof stack !== 'string') return [];
  const lines = stack.slice(0, STACK_LENGTH_MAX).split('\n');
  return lines
    .map(locationIn)
    .filter((location) => location !== undefined)
    .slice(0, FRAMES_MAX);
}

/** Where `callee` was called. The stack is formatted when it is read, so capturing it is cheap. */
export function here(callee) {
  const site = {};
  captureStackTrace(site, callee);
  return site;
}

/** Pack code can influence how stacks are formatted. */
export function stackOf(site) {
  try {
    return typeof site.stack === 'string' ? site.stack : '';
  } catch {
    return '';
  }
}

/** Steps of about 200 bytes; a microsecond in total, where one large step takes ten. */
const take = (steps, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) =>
  steps === 0 ? 0 : take(steps - 1, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) + 1;

/**
 * A stack overflow can throw anywhere. It must not occur between counting a message and sending it. So this throws
 * `RangeError`, before anything has happened, if the pack has left less stack than the runner needs to reach the pipe.
 */
export const needStack = () => take(160, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
