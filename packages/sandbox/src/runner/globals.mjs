/** Replaces the globals that would give pack code access to the host; the others are plain JavaScript. */

import { performance } from 'node:perf_hooks';
import { format } from 'node:util';
import { addBuiltins, builtin, webCrypto } from './builtins.mjs';
import { send } from './channel.mjs';
import { needStack } from './frames.mjs';
import { fetch } from './network.mjs';
import { callSync, current, violate } from './scope.mjs';
import { whyUnsendable } from './unsendable.mjs';

const { hrtime, nextTick, uptime, version, versions, arch } = process;

const GONE =
  'WebSocket EventSource CloseEvent BroadcastChannel navigator Navigator localStorage sessionStorage Storage Worker'.split(
    ' ',
  );
const PROCESS_ESCAPES =
  'abort binding _linkedBinding _kill _debugProcess _rawDebug chdir dlopen execve exit reallyExit kill setuid setgid seteuid setegid setgroups initgroups umask openStdin loadEnvFile setSourceMapsEnabled setUncaughtExceptionCaptureCallback'.split(
    ' ',
  );
const LOG_TEXT_MAX = 8 * 1024;

/** Configuration of the host itself; packs have no use for it. */
const OF_THE_HOST = 'GANTRY_';
const Guarded = Proxy;

/** Each granted name is read through the host, so that the host sees its use. */
function environment(names) {
  const env = {};
  for (const name of names) {
    const get = () => callSync(current(), 'env.read', [name]);
    Object.defineProperty(env, name, { get, enumerable: true });
  }
  return new Guarded(Object.freeze(env), {
    get(target, name) {
      if (typeof name === 'string' && name.startsWith(OF_THE_HOST) && !(name in target))
        throw violate('host-env-leak', `reading ${name} of the host`);
      return target[name];
    },
  });
}

const silentStream = Object.freeze({ write: () => true, isTTY: false });

function processFacade(envNames) {
  const facade = { env: environment(envNames), argv: Object.freeze([]), execArgv: Object.freeze([]) };
  Object.assign(facade, { pid: 1, platform: 'linux', arch, version, versions, title: 'pack' });
  Object.assign(facade, { stdout: silentStream, stderr: silentStream });
  Object.assign(facade, { hrtime, nextTick, uptime, cwd: () => '/', emitWarning: () => {} });
  for (const name of ['on', 'once', 'off', 'removeListener']) facade[name] = () => facade;
  facade.getBuiltinModule = (name) => builtin(`${name}`);
  const refuse = (name) => () => {
    throw violate('host-process-escape', `process.${name}`);
  };
  for (const name of PROCESS_ESCAPES) facade[name] = refuse(name);
  for (const name of ['report', 'mainModule', 'permission', 'features', 'config'])
    Object.defineProperty(facade, name, { get: refuse(name) });
  return Object.freeze(facade);
}

const line =
  (level) =>
  (...args) => {
    const invocation = current();
    if (invocation) log(invocation, level, format(...args).slice(0, LOG_TEXT_MAX));
  };

const LOGS_MAX = 1000;

/** Bounded per invocation; further entries are dropped, not queued. */
export function log(invocation, level, message, data) {
  if (invocation.closed || invocation.logs >= LOGS_MAX) return;
  needStack();
  invocation.logs += 1;
  const text = `${message}`.slice(0, LOG_TEXT_MAX);
  const entry = { type: 'log', id: invocation.id, level: `${level}`, message: text };
  try {
    send({ ...entry, data });
  } catch (error) {
    const why = whyUnsendable(data, 'data') ?? error.message;
    send({ ...entry, message: `${text} (Its data was dropped: ${why})` });
  }
}

function consoleFacade() {
  const facade = { debug: line('debug'), log: line('info'), info: line('info'), warn: line('warn') };
  facade.error = line('error');
  for (const name of 'assert count dir group groupEnd table time timeEnd timeLog trace'.split(' '))
    facade[name] = () => {};
  return Object.freeze(facade);
}

const performanceFacade = Object.freeze({
  now: performance.now.bind(performance),
  timeOrigin: performance.timeOrigin,
  mark: () => {},
  measure: () => {},
});

/** Globals that the runner uses by name after the pack has loaded; their prototypes are frozen (`intrinsics.mjs`). */
const OURS =
  'AbortController Array ArrayBuffer BigInt DataView Error JSON Map Math Number Object Promise RangeError Reflect Set String Symbol TextDecoder TextEncoder TypeError Uint8Array WebAssembly clearTimeout setTimeout structuredClone'.split(
    ' ',
  );

function lockGlobals() {
  const locked = { writable: false, configurable: false };
  for (const name of OURS) Object.defineProperty(globalThis, name, { value: globalThis[name], ...locked });
}

function replace(name, descriptor) {
  delete globalThis[name];
  if (Object.hasOwn(globalThis, name)) throw new Error(`The global ${name} cannot be replaced.`);
  Object.defineProperty(globalThis, name, { ...descriptor, configurable: false, enumerable: false });
}

/** After this, the global object gives no access to the host. */
export function replaceGlobals(envNames) {
  const console = consoleFacade();
  const process = processFacade(envNames);
  addBuiltins({ console, process, perf_hooks: { performance: performanceFacade } });
  for (const name of GONE) if (name in globalThis) delete globalThis[name];
  for (const [name, value] of Object.entries({ console, process, fetch, performance: performanceFacade }))
    replace(name, { value, writable: false });
  replace('crypto', { get: webCrypto });
  lockGlobals();
}
