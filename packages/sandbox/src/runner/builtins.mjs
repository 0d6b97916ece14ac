/**
 * The result of importing a built-in module in pack code: the real module, our own, a refusal, or the end of
 * the process.
 */
import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import { fs, fsPromises } from './files.mjs';
import { dnsCallbacks, dnsPromises } from './network.mjs';
import { denied, isGranted, use, violate } from './scope.mjs';

/** Read before the pack can change `process`. Most packs need few built-ins, and loading all of them takes 20 ms. */
const { getBuiltinModule } = process;

const REAL = new Set(
  'assert assert/strict buffer events path path/posix querystring string_decoder timers timers/promises url util util/types zlib'.split(
    ' ',
  ),
);

/** Published packs use hashing and randomness without declaring them; the rest needs the grant. */
const CRYPTO_ALWAYS = new Set(
  'createHash createHmac hash getHashes randomUUID randomBytes randomInt randomFillSync timingSafeEqual'.split(
    ' ',
  ),
);

const ESCAPES = {
  'host-process-escape':
    'child_process cluster worker_threads inspector inspector/promises repl v8 vm wasi module sea test trace_events diagnostics_channel process/report domain async_hooks',
  'network-escape': 'net tls http https http2 dgram quic _http_client _http_server _tls_wrap _tls_common',
  'host-fs-escape': 'sqlite ffi',
};
const escapeKinds = new Map(
  Object.entries(ESCAPES).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind])),
);

/**
 * Shared objects must not carry a patch from one run to the next. Locks only methods, since emitters have data fields.
 */
function lockMethods(target) {
  for (const key of Reflect.ownKeys(target)) {
    const descriptor = Object.getOwnPropertyDescriptor(target, key);
    if (typeof descriptor.value === 'function' && descriptor.configurable)
      Object.defineProperty(target, key, { writable: false, configurable: false });
  }
  return target;
}

const guarded = (member, owner) =>
  function guardedByGrant(...args) {
    use('crypto');
    return new.target ? Reflect.construct(member, args) : Reflect.apply(member, owner, args);
  };

function webCryptoFacade() {
  const { webcrypto, randomUUID } = getBuiltinModule('crypto');
  const subtle = { digest: webcrypto.subtle.digest.bind(webcrypto.subtle) };
  for (const name of 'encrypt decrypt sign verify deriveBits deriveKey generateKey importKey exportKey'.split(
    ' ',
  ))
    subtle[name] = guarded(webcrypto.subtle[name], webcrypto.subtle);
  const getRandomValues = webcrypto.getRandomValues.bind(webcrypto);
  return Object.freeze({ getRandomValues, randomUUID, subtle: Object.freeze(subtle) });
}

/** Every name exists, so that static imports link; members that are not granted refuse when called. */
function cryptoFacade() {
  const crypto = getBuiltinModule('crypto');
  const facade = { constants: crypto.constants, webcrypto: webCrypto(), subtle: webCrypto().subtle };
  for (const [name, member] of Object.entries(crypto))
    if (typeof member === 'function')
      facade[name] = CRYPTO_ALWAYS.has(name) ? member : guarded(member, crypto);
  return Object.freeze(facade);
}

/** Created on first use. */
function once(make) {
  let made;
  return () => (made ??= make());
}

export const webCrypto = once(webCryptoFacade);

const real = Object.fromEntries(
  [...REAL].map((name) => [name, once(() => lockMethods(getBuiltinModule(name)))]),
);
const ours = { crypto: once(cryptoFacade), dns: () => dnsCallbacks, 'dns/promises': () => dnsPromises };
const granted = { fs, 'fs/promises': fsPromises };

/** `console` and `process` come from `globals.mjs`, which needs `builtin` itself. */
export function addBuiltins(modules) {
  for (const [name, module] of Object.entries(modules)) ours[name] = () => Object.freeze(module);
}

/** Locks objects that pack code reaches without an import. Other modules are locked when they are imported. */
export function lockBuiltins() {
  // It gives access to `AsyncResource`, which belongs to a refused module.
  delete EventEmitter.EventEmitterAsyncResource;
  for (const target of [Buffer, Buffer.prototype, EventEmitter, EventEmitter.prototype]) lockMethods(target);
  for (const name of ['buffer', 'events', 'util', 'url', 'path']) real[name]();
  for (const module of [dnsCallbacks, dnsPromises, ...Object.values(granted)]) Object.freeze(module);
}

/** The module object for a name with or without `node:`; throws if the module is refused. */
export function builtin(specifier) {
  const name = specifier.replace(/^node:/, '');
  if (Object.hasOwn(real, name)) return real[name]();
  if (Object.hasOwn(ours, name)) return ours[name]();
  if (escapeKinds.has(name)) throw violate(escapeKinds.get(name), `the built-in module ${name}`);
  if (!Object.hasOwn(granted, name)) throw denied(`node:${name}`);
  if (!isGranted('fs.read') && !isGranted('fs.write')) throw denied('fs.read');
  return granted[name];
}
