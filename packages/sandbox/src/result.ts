/** Converts frames of a child to the result of a node. All of it comes from the pack and is checked. */
import { capabilityAt, type Json, type JsonObject } from '@gantry/protocol';
import type { NodeError, NodeResult } from './invocation.ts';

/** A failure that is shown to pack code unchanged. Its code need not be in the error catalogue. */
export class ErrorForPack extends Error {
  readonly code: string;
  readonly details: JsonObject | undefined;
  readonly retryable: boolean;

  constructor(
    code: string,
    message: string,
    { details, retryable = false }: { readonly details?: JsonObject; readonly retryable?: boolean } = {},
  ) {
    super(message);
    this.name = 'ErrorForPack';
    this.code = code;
    this.details = details;
    this.retryable = retryable;
  }
}

const FALLBACK_CODE = 'sandbox_invocation_error';
const MESSAGE_MAX = 4096;
const NAME_MAX = 256;
const KEY_MAX = 512;
const CODE = /^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/;
const ERROR_STATUSES: ReadonlySet<unknown> = new Set(['error', 'failure', 'failed']);

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** Results are JSON; bytes become base64, as in the log. */
export function toJson(value: unknown): Json {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJson);
  if (isObject(value)) return toJsonObject(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return null;
}

export function toJsonObject(value: unknown): JsonObject {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toJson(item)]));
}

export function nodeError(code: string, message: string, details?: JsonObject): NodeError {
  return { code, message, retryable: code === 'sandbox_timeout', ...(details && { details }) };
}

/** `lib/order.mjs:12:5`, in the pack's folder. */
const FRAME = /^[^\s/:\p{Cc}][^\s:\p{Cc}]{0,199}(?::\d{1,7}){1,2}$/u;
const FRAMES_MAX = 5;

/** The location in the pack, innermost first, as the runner read it from the stack. At most about 1 KiB. */
function locationOf({ frames }: Readonly<Record<string, unknown>>): JsonObject {
  if (!Array.isArray(frames)) return {};
  const stack = frames.filter((frame) => typeof frame === 'string' && FRAME.test(frame)).slice(0, FRAMES_MAX);
  const [at] = stack;
  return at === undefined ? {} : { at, ...(stack.length > 1 && { stack }) };
}

/** Converts a thrown error or the `error` of a result. `retryable` is false unless it is set explicitly. */
export function toNodeError(error: unknown): NodeError {
  const given = isObject(error) ? error : { message: error };
  const code = typeof given.code === 'string' && CODE.test(given.code) ? given.code : FALLBACK_CODE;
  const message =
    typeof given.message === 'string' && given.message !== '' ? given.message : 'The node failed.';
  const details: JsonObject = {
    ...locationOf(given),
    ...toJsonObject(cutJson(given.details)),
    ...(typeof given.capability === 'string' && { capability: cutText(given.capability, NAME_MAX) }),
    ...(code === 'host_capability_missing' && missingOf(given.details)),
  };
  return {
    code,
    message: message.slice(0, MESSAGE_MAX),
    retryable: given.retryable === true,
    ...(Object.keys(details).length > 0 && { details }),
  };
}

/** The runner knows members of `ctx` by path, not by the capability that they belong to. */
const missingOf = (details: unknown): JsonObject =>
  isObject(details) && typeof details.capability === 'string'
    ? { capability: `host.${capabilityAt(cutText(details.capability.replace(/^host\./, ''), NAME_MAX))}` }
    : {};

const succeeded = (outputs: unknown): NodeResult => ({
  status: 'success',
  outputs: isObject(outputs)
    ? toJsonObject(outputs)
    : outputs === undefined
      ? {}
      : { result: toJson(outputs) },
});

/** Accepts all forms that published packs return; a bare object is the outputs. */
export function returnedResult(value: unknown): NodeResult {
  if (!isObject(value)) return succeeded(value ?? undefined);
  if (value.status === 'terminate' || value.status === 'directive')
    return { status: value.status, request: toJsonObject(value.request) };
  if (ERROR_STATUSES.has(value.status) && value.error !== undefined)
    return { status: 'error', origin: 'pack', error: toNodeError(value.error) };
  if (value.status === 'success') {
    const { status: _, outputs, ...rest } = value;
    return succeeded(outputs === undefined ? rest : outputs);
  }
  return succeeded(value.status === undefined && isObject(value.outputs) ? value.outputs : value);
}

/**
 * Only thrown: the runners of WASM and Python detect that their heap is exhausted. A pack gains nothing by claiming it.
 */
const HEAP_USED_UP = 'sandbox_memory_exceeded';

function thrownResult(thrown: unknown): NodeResult {
  const error = toNodeError(thrown);
  return { status: 'error', origin: error.code === HEAP_USED_UP ? 'host' : 'pack', error };
}

/** The `end` of a result frame. */
export function endResult(end: unknown): NodeResult {
  if (!isObject(end)) return thrownResult(undefined);
  if (end.kind === 'returned') return returnedResult(end.value);
  if (end.kind === 'suspended')
    return { status: 'suspended', key: cutText(end.key, KEY_MAX), request: toJsonObject(end.request) };
  return thrownResult(end.error);
}

/** Texts and values chosen by pack code are truncated before they reach events and logs: each one, and their total. */
const TEXT_MAX = 8 * 1024;
/** Maximum characters of one value, including everything in it. */
const VALUE_MAX = 64 * 1024;
/** Charged for each element, so that empty elements are limited too. */
const ELEMENT_COST = 4;

/** Anything but a string becomes empty: converting a large list to a string takes time. */
export const cutText = (value: unknown, max = TEXT_MAX): string =>
  typeof value === 'string' ? value.slice(0, max) : '';

/** Truncates a value: texts and names are cut, and everything beyond `VALUE_MAX` is dropped. */
export const cutJson = (value: unknown): Json => cutWithin(value, { left: VALUE_MAX });

function cutWithin(value: unknown, budget: { left: number }): Json {
  budget.left -= ELEMENT_COST;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return taken(value, budget);
  if (typeof value !== 'object' || value === null) return null;
  if (value instanceof Uint8Array)
    return taken(Buffer.from(value.subarray(0, TEXT_MAX)).toString('base64'), budget);
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) if (budget.left > 0) items.push(cutWithin(item, budget));
    return items;
  }
  const members: [string, Json][] = [];
  for (const [name, item] of Object.entries(value))
    if (budget.left > 0) members.push([taken(name, budget), cutWithin(item, budget)]);
  return Object.fromEntries(members);
}

function taken(text: string, budget: { left: number }): string {
  const cut = text.slice(0, Math.max(0, Math.min(TEXT_MAX, budget.left)));
  budget.left -= cut.length;
  return cut;
}
