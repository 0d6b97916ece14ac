/** What pack code gets when it asks for a built-in: the real one, one of ours, a refusal or the end. */
import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import { fs, fsPromises } from './files.mjs';
import { dnsCallbacks, dnsPromises } from './network.mjs';
import { denied, isGranted, use, violate } from './scope.mjs';

/** Taken before the pack can touch `process`. Most packs need few of them, and loading all takes 20 ms. */
const { getBuiltinModule } = process;

const REAL = new Set(
  'assert assert/strict buffer events path path/posix querystring string_decoder timers timers/promises url util util/types zlib'.split(
    ' ',
  ),
);

/** Hashing and randomness are used undeclared by published packs; the rest needs the grant. */
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

/** Shared objects must not carry a patch from one run to the next. Only methods: emitters own data fields. */
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

/** Every name is there, so that a static import links; what is not granted refuses when it is called. */
function cryptoFacade() {
  const crypto = getBuiltinModule('crypto');
  const facade = { constants: crypto.constants, webcrypto: webCrypto(), subtle: webCrypto().subtle };
  for (const [name, member] of Object.entries(crypto))
    if (typeof member === 'function')
      facade[name] = CRYPTO_ALWAYS.has(name) ? member : guarded(member, crypto);
  return Object.freeze(facade);
}

/** Made when first asked for. */
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

/** What pack code reaches without asking for a module is locked before it runs; the rest when it is asked for. */
export function lockBuiltins() {
  // It would hand out `AsyncResource`, which belongs to a module that is refused.
  delete EventEmitter.EventEmitterAsyncResource;
  for (const target of [Buffer, Buffer.prototype, EventEmitter, EventEmitter.prototype]) lockMethods(target);
  for (const name of ['buffer', 'events', 'util', 'url', 'path']) real[name]();
  for (const module of [dnsCallbacks, dnsPromises, ...Object.values(granted)]) Object.freeze(module);
}

/** The module object for a name with or without `node:`; throws what the pack deserves. */
export function builtin(specifier) {
  const name = specifier.replace(/^node:/, '');
  if (Object.hasOwn(real, name)) return real[name]();
  if (Object.hasOwn(ours, name)) return ours[name]();
  if (escapeKinds.has(name)) throw violate(escapeKinds.get(name), `the built-in module ${name}`);
  if (!Object.hasOwn(granted, name)) throw denied(`node:${name}`);
  if (!isGranted('fs.read') && !isGranted('fs.write')) throw denied('fs.read');
  return granted[name];
}
