/** WASM ABI v1: a fresh instance for every invocation, JSON through its linear memory. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { log } from './globals.mjs';
import { suspend } from './invocation.mjs';
import { callSync, denied } from './scope.mjs';

const { instantiate } = WebAssembly;
const ABI_VERSION = 1;
const PAGE_BYTES = 65536;
const LEVELS = ['debug', 'debug', 'info', 'warn', 'error'];
const STATUS = {
  channel_access_denied: 1,
  channel_schema_breaking_change: 2,
  channel_cross_engine_write_forbidden: 3,
  validation_error: 10,
  not_found: 11,
  capability_breach: 20,
};
const HOST_ERROR = 99;
const SUSPENDED = Symbol('suspended');
const NONE = new Uint8Array(0);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads both conventions for a pair of pointer and length. */
const unpack = (pair) =>
  Array.isArray(pair)
    ? pair.map((part) => part >>> 0)
    : [Number(pair & 0xffffffffn), Number((pair >> 32n) & 0xffffffffn)];

function guestOf(instance, packed) {
  const { exports } = instance;
  const copy = (pointer, length) =>
    new Uint8Array(exports.memory.buffer).slice(pointer >>> 0, (pointer >>> 0) + length);
  const put = (bytes) => {
    const pointer = exports.openwop_alloc(bytes.byteLength) >>> 0;
    if (pointer === 0 && bytes.byteLength > 0) throw new Error('The module cannot allocate memory.');
    new Uint8Array(exports.memory.buffer).set(bytes, pointer);
    return pointer;
  };
  const take = (pair) => {
    const [pointer, length] = unpack(pair);
    const bytes = copy(pointer, length);
    exports.openwop_free(pointer, length);
    return decoder.decode(bytes);
  };
  const give = (bytes) => {
    const pointer = bytes.byteLength === 0 ? 0 : put(bytes);
    return packed ? (BigInt(bytes.byteLength) << 32n) | BigInt(pointer) : [pointer, bytes.byteLength];
  };
  return { exports, text: (pointer, length) => decoder.decode(copy(pointer, length)), put, take, give };
}

/** Gives the same bytes whenever the same attempt runs again. */
function seededRandom({ runId, nodeId, attempt }) {
  let counter = 0;
  return (length) => {
    const bytes = new Uint8Array(length);
    for (let offset = 0; offset < length; offset += 32) {
      const block = createHash('sha256').update(`${runId}\n${nodeId}\n${attempt}\n${counter++}`).digest();
      bytes.set(block.subarray(0, length - offset), offset);
    }
    return bytes;
  };
}

const json = (value) =>
  value === undefined || value === null ? NONE : encoder.encode(JSON.stringify(value));

function statusOf(work) {
  try {
    work();
    return 0;
  } catch (error) {
    return STATUS[error.code] ?? HOST_ERROR;
  }
}

/** The imports of a module, bound to its invocation. `guest` is filled in after instantiation. */
function importsFor(invocation, guest) {
  const random = seededRandom(invocation.given);
  const interrupt = (pointer, length) => {
    const { answered, value } = suspend(invocation, JSON.parse(guest.text(pointer, length)));
    if (!answered) throw SUSPENDED;
    return guest.give(json(value));
  };
  return {
    openwop_channel_read: (pointer, length) =>
      guest.give(json(callSync(invocation, 'wasm.channel_read', [guest.text(pointer, length)]))),
    openwop_channel_write: (np, nl, vp, vl) =>
      statusOf(() =>
        callSync(invocation, 'wasm.channel_write', [guest.text(np, nl), JSON.parse(guest.text(vp, vl))]),
      ),
    openwop_variable_get: (pointer, length) =>
      guest.give(json(invocation.variables.get(guest.text(pointer, length)))),
    openwop_variable_set: (np, nl, vp, vl) =>
      statusOf(() => {
        const name = guest.text(np, nl);
        invocation.variables.set(name, JSON.parse(guest.text(vp, vl)));
        invocation.written.add(name);
      }),
    openwop_interrupt: interrupt,
    openwop_log: (level, pointer, length) =>
      log(invocation, LEVELS[level] ?? 'info', guest.text(pointer, length)),
    openwop_now_ms: () => BigInt(callSync(invocation, 'wasm.now_ms', [])),
    openwop_random: (pointer, length) => {
      new Uint8Array(guest.exports.memory.buffer).set(random(length >>> 0), pointer >>> 0);
    },
  };
}

/** For a guest whose imports refuse: used to read names and counts when the pack is loaded. */
const NO_INVOCATION = {
  given: {},
  answers: {},
  variables: new Map(),
  written: new Set(),
  logs: 0,
  closed: true,
};

function checkImports(module) {
  const known = Object.keys(importsFor(NO_INVOCATION, {}));
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    if (from !== 'openwop' || !known.includes(name)) throw denied(`${from}.${name}`);
}

async function start(module, packed, invocation) {
  const guest = {};
  const instance = await instantiate(module, { openwop: importsFor(invocation, guest) });
  return Object.assign(guest, guestOf(instance, packed));
}

/** A module that returns i64 uses packed pairs; imports follow the convention of the exports. */
function isPacked(guest) {
  return !Array.isArray(guest.exports.openwop_pack_name());
}

const canGrow = (memory, pages) => {
  try {
    memory.grow(pages);
    return true;
  } catch {
    return false;
  }
};

/** V8 reports a failed allocation like any other trap. It is assumed if the memory has grown and cannot double. */
function memoryError(guest, initialBytes, pagesMax) {
  const { memory } = guest.exports;
  const observed = memory.buffer.byteLength;
  if (observed === initialBytes || canGrow(memory, observed / PAGE_BYTES)) return undefined;
  const details = { kind: 'wasm-memory', limit: pagesMax * PAGE_BYTES, observed };
  const error = new Error('The module exceeded its memory limit.');
  return Object.assign(error, { code: 'sandbox_memory_exceeded', details });
}

function outcomeOf(response) {
  if (response.outcome === 'completed') return { status: 'success', outputs: response.output ?? {} };
  if (response.outcome === 'suspended') return { status: 'interrupted', interrupt: response.interrupt };
  const { code = 'sandbox_invocation_error', message = 'The module failed.', details } = response.error ?? {};
  return { status: 'error', error: { code, message, details } };
}

function execute(guest, index, invocation, pagesMax) {
  const { inputs, configurable, agent = null, ...given } = invocation.given;
  const { runId, nodeId, tenantId, attempt } = given;
  const nodeContext = { runId, nodeId, tenantId, attempt, configurable: configurable ?? {}, agent };
  const request = encoder.encode(JSON.stringify({ abiVersion: ABI_VERSION, nodeContext, inputs }));
  const initialBytes = guest.exports.memory.buffer.byteLength;
  try {
    const pointer = guest.put(request);
    const pair = guest.exports.openwop_node_invoke(index, pointer, request.byteLength);
    const response = JSON.parse(guest.take(pair));
    guest.exports.openwop_free(pointer, request.byteLength);
    return outcomeOf(response);
  } catch (error) {
    if (error === SUSPENDED) return undefined;
    throw memoryError(guest, initialBytes, pagesMax) ?? error;
  }
}

/** Handles a suspension that is returned instead of imported: if it was answered, the answer is the output. */
function settled(outcome, invocation) {
  if (outcome?.status !== 'interrupted') return outcome;
  const { answered, value } = suspend(invocation, outcome.interrupt);
  return answered ? { status: 'success', outputs: value } : undefined;
}

export async function loadWasm(folder, entry, { pagesMax }) {
  const module = await WebAssembly.compile(readFileSync(resolvePath(folder, entry)));
  checkImports(module);
  const probe = await start(module, true, NO_INVOCATION);
  const version = probe.exports.openwop_abi_version();
  if (version !== ABI_VERSION)
    throw Object.assign(new Error(`ABI version ${version} is not supported.`), {
      code: 'unsupported_abi_version',
    });
  const packed = isPacked(probe);
  const nodes = Object.create(null);
  for (let index = 0; index < probe.exports.openwop_node_count(); index++) {
    const typeId = probe.take(probe.exports.openwop_node_id_at(index));
    nodes[typeId] = async (_ctx, invocation) =>
      settled(execute(await start(module, packed, invocation), index, invocation, pagesMax), invocation);
  }
  return nodes;
}
