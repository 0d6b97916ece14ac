/** The running invocation, and the three responses to an access by pack code: use, deny, stop. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { callAndBlock, failure, postCall, send } from './channel.mjs';
import { here, needStack } from './frames.mjs';
import { leftOut } from './unsendable.mjs';

const storage = new AsyncLocalStorage();
const getStore = storage.getStore.bind(storage);

/** Runs pack code on behalf of an invocation; `undefined` while the module loads. */
export const runAs = storage.run.bind(storage);
export const invocations = new Map();
let grants = new Set();

export function setGrants(ids) {
  grants = new Set(ids);
}

export const isGranted = (primitive) => grants.has(primitive);

/** Async context can get lost. If only one invocation runs, it is that one. */
export function current() {
  const running = getStore();
  if (running !== undefined) return running;
  return invocations.size === 1 ? invocations.values().next().value : undefined;
}

const currentId = () => current()?.id ?? null;

const refusal = (message, code, details) => Object.assign(new Error(message), { code, details });

/** Refuses; the pack may catch the error and continue. */
export const denied = (capability) =>
  refusal(`The pack was not granted ${capability}.`, 'sandbox_capability_denied', {
    requestedCapability: capability,
  });

/** Reports it to the host, which ends this process. */
export function violate(escapeKind, what) {
  send({ type: 'violation', id: currentId(), escapeKind, what });
  return refusal(`The sandbox does not allow ${what}.`, 'sandbox_escape_attempt', { escapeKind });
}

/** A blocking call to the host. */
export function callSync(invocation, method, args) {
  needStack();
  const call = invocation === undefined ? 0 : invocation.calls++;
  const answer = callAndBlock({ id: invocation?.id ?? null, call, method }, args);
  if (answer.ok) return answer.value;
  throw failure(answer.error, { method, leftOut: leftOut(args) });
}

/** Requests a primitive that is implemented in this process, once per invocation, so that the host sees its use. */
export function use(primitive) {
  if (!grants.has(primitive)) throw denied(primitive);
  const invocation = current();
  if (invocation?.used.has(primitive)) return;
  callSync(invocation, 'primitive.use', [primitive]);
  invocation?.used.add(primitive);
}

/** Counts `work` as in progress until it ends: a node that has returned ends only then. */
export async function underWay(invocation, work) {
  if (invocation === undefined) return work();
  invocation.underWay += 1;
  try {
    return await work();
  } finally {
    invocation.underWay -= 1;
    invocation.whenIdle?.();
  }
}

async function ask(invocation, method, args, { onEvent, site }) {
  if (invocation === undefined) throw new Error(`${method} was called outside of an invocation.`);
  if (invocation.closed) throw new Error(`${method} was called after the node had ended.`);
  const asked = { method, onEvent, leftOut: leftOut(args), site };
  const number = invocation.calls++;
  const answer = new Promise((resolve, reject) => {
    invocation.pending.set(number, { ...asked, resolve, reject });
  });
  await postCall({ id: invocation.id, call: number, method }, args);
  return answer;
}

/** A call that the host answers later. `site` is where it is made. */
export function call(invocation, method, args, site = here(call)) {
  needStack();
  return underWay(invocation, () => ask(invocation, method, args, { site }));
}

/**
 * A call whose `onEvent` receives the events that the host sends before its answer. The node does not wait for
 * it, since it may never end.
 */
export function listenTo(invocation, method, args, onEvent) {
  needStack();
  return ask(invocation, method, args, { onEvent, site: here(listenTo) });
}
