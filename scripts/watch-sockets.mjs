// Loaded before tests and before hosts that tests start: what opens a connection must be `packages/egress`, or a driver
// of a server that the settings name. Else the process fails, with the stack of what opened it.
// With `?host` in its URL it watches a whole host, in which nothing else connects; in a test process the tests do too.
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const FRAMES_MAX = 40;
const BUNDLE = 'node_modules/.cache/bundle/';
const SOURCE = /^\/\/ (packages|node_modules)\/\S+$/;

/** Files that may connect, wherever they are called from. */
const OPENERS = [
  /^packages\/egress\/src\/connect\.ts$/,
  // Drivers of databases and buckets of the settings
  /^packages\/postgres\/src\/wire\.ts$/,
  /^node_modules\/(postgres|mysql2)\//,
  /^packages\/surfaces\/src\/sql-drivers\//,
  /^node_modules\/@smithy\/node-http-handler\//,
];

/** Code of tests, and of what is outside of the host and talks to it. */
const OUTSIDE =
  /\.test\.ts$|\/testing\/|\/testing\.ts$|\/contract\/|^(test|bench|scripts)\/|^packages\/(client|cli)\//;

/** The files of a stack within the project, the innermost first. */
export function filesIn(stack, root = ROOT) {
  const prefix = `${root}${path.sep}`;
  return stack.split('\n').flatMap((line) => {
    const at = line.indexOf(prefix);
    if (at < 0) return [];
    const [file, row] = line.slice(at + prefix.length).split(':');
    return [file.startsWith(BUNDLE) ? (sourceAt(prefix + file, Number(row)) ?? file) : file];
  });
}

const bundled = new Map();

/** In a bundle a comment with its path stands before each source. */
function sourceAt(file, row) {
  if (!bundled.has(file)) bundled.set(file, readFileSync(file, 'utf8').split('\n'));
  const found = bundled.get(file).findLast((line, at) => at < row && SOURCE.test(line));
  return found?.slice('// '.length);
}

/** Whether a connection may be opened by these files. */
export function mayConnect(files, isHost) {
  if (files.some((file) => OPENERS.some((opener) => opener.test(file)))) return true;
  const own = files.find((file) => !file.startsWith('node_modules/') && file !== 'scripts/watch-sockets.mjs');
  return !isHost && (own === undefined ? files.every(isFetchOrOurs) : OUTSIDE.test(own));
}

/**
 * Once undici is loaded from `node_modules`, `fetch` connects by it, and anew for requests that wait when a connection has
 * ended: then nobody who called `fetch`, which is checked by itself, is on the stack.
 */
const isFetchOrOurs = (file) => !file.startsWith('node_modules/') || file.startsWith('node_modules/undici/');

function check(isHost) {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES_MAX;
  const error = new Error('A connection was opened by other code than packages/egress.');
  Error.stackTraceLimit = stackTraceLimit;
  if (!mayConnect(filesIn(error.stack), isHost)) throw error;
}

const isLoaded = process.execArgv.some((word) => word.includes('watch-sockets'));
if (isLoaded) {
  const isHost = new URL(import.meta.url).search === '?host';
  subscribe('net.client.socket', () => check(isHost));
  // It connects later, when the caller is no longer on the stack.
  const { fetch } = globalThis;
  globalThis.fetch = (...request) => {
    check(isHost);
    return fetch(...request);
  };
}
