/** Where in the pack something happened: the lines of a stack that lie in its folder, relative to it. */
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

/** Where `callee` was called. Its stack is made when it is read: taking it costs little. */
export function here(callee) {
  const site = {};
  captureStackTrace(site, callee);
  return site;
}

/** Pack code may have a say in how stacks look. */
export function stackOf(site) {
  try {
    return typeof site.stack === 'string' ? site.stack : '';
  } catch {
    return '';
  }
}

/** Steps of 200 bytes or so; a microsecond in all, where one large step takes ten. */
const take = (steps, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) =>
  steps === 0 ? 0 : take(steps - 1, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) + 1;

/**
 * A full stack throws wherever it is met. What is counted and then sent must not be cut in two by that, so this throws
 * `RangeError` where the pack has left less than the runner takes to the pipe, before anything
 * has happened.
 */
export const needStack = () => take(160, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
