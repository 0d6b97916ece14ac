/** What pack code gets when it asks for a built-in: the real one, one of ours, a refusal or the end. */
import assert from 'node:assert';
import assertStrict from 'node:assert/strict';
import buffer from 'node:buffer';
import crypto from 'node:crypto';
import events from 'node:events';
import path from 'node:path';
import posix from 'node:path/posix';
import querystring from 'node:querystring';
import stringDecoder from 'node:string_decoder';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import url from 'node:url';
import util from 'node:util';
import utilTypes from 'node:util/types';
import zlib from 'node:zlib';
import { fs, fsPromises } from './files.mjs';
import { dnsCallbacks, dnsPromises } from './network.mjs';
import { denied, isGranted, use, violate } from './scope.mjs';

const real = {
  assert,
  'assert/strict': assertStrict,
  buffer,
  events,
  path,
  'path/posix': posix,
  querystring,
};
Object.assign(real, { string_decoder: stringDecoder, timers, 'timers/promises': timersPromises });
Object.assign(real, { url, util, 'util/types': utilTypes, zlib });

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
  const { webcrypto } = crypto;
  const subtle = { digest: webcrypto.subtle.digest.bind(webcrypto.subtle) };
  for (const name of 'encrypt decrypt sign verify deriveBits deriveKey generateKey importKey exportKey'.split(
    ' ',
  ))
    subtle[name] = guarded(webcrypto.subtle[name], webcrypto.subtle);
  const getRandomValues = webcrypto.getRandomValues.bind(webcrypto);
  return Object.freeze({ getRandomValues, randomUUID: crypto.randomUUID, subtle: Object.freeze(subtle) });
}

export const webCrypto = webCryptoFacade();

/** Every name is there, so that a static import links; what is not granted refuses when it is called. */
function cryptoFacade() {
  const facade = { constants: crypto.constants, webcrypto: webCrypto, subtle: webCrypto.subtle };
  for (const [name, member] of Object.entries(crypto))
    if (typeof member === 'function')
      facade[name] = CRYPTO_ALWAYS.has(name) ? member : guarded(member, crypto);
  return facade;
}

const ours = { crypto: cryptoFacade(), dns: dnsCallbacks, 'dns/promises': dnsPromises };
const granted = { fs, 'fs/promises': fsPromises };

/** `console` and `process` come from `globals.mjs`, which needs `builtin` itself. */
export function addBuiltins(modules) {
  Object.assign(ours, modules);
}

export function lockBuiltins() {
  for (const module of Object.values(real)) lockMethods(module);
  for (const target of [buffer.Buffer, buffer.Buffer.prototype, events.prototype]) lockMethods(target);
  for (const module of [...Object.values(ours), ...Object.values(granted)]) Object.freeze(module);
}

/** The module object for a name with or without `node:`; throws what the pack deserves. */
export function builtin(specifier) {
  const name = specifier.replace(/^node:/, '');
  if (Object.hasOwn(real, name)) return real[name];
  if (Object.hasOwn(ours, name)) return ours[name];
  if (escapeKinds.has(name)) throw violate(escapeKinds.get(name), `the built-in module ${name}`);
  if (!Object.hasOwn(granted, name)) throw denied(`node:${name}`);
  if (!isGranted('fs.read') && !isGranted('fs.write')) throw denied('fs.read');
  return granted[name];
}
