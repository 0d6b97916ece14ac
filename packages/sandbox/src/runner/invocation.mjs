/**
 * One invocation of a node, from beginning to end.
 *
 * I1 It ends once, and nothing is sent for it after that.
 * I2 A node that has returned does not end while it has calls in progress: a forgotten `await` must lose
 *    nothing. A node that throws or suspends ends at once: it did not do its work, or runs again.
 * I3 A rejection that is not awaited fails the node; after its end, it is logged for the operator, once.
 */

import { newAbsences, withAbsence } from './absent.mjs';
import { methodOf, send } from './channel.mjs';
import { needStack } from './frames.mjs';
import { log } from './globals.mjs';
import { invocations } from './scope.mjs';
import { describe, withoutDetails } from './thrown.mjs';
import { largestIn, whyUnsendable } from './unsendable.mjs';
import { TooLarge } from './wire.mjs';

/** By then promise callbacks have run, and unhandled rejections are known. */
const afterThisTurn = setImmediate;
const after = setTimeout;
const never = clearTimeout;
const REMIND_MS = 1_000;
const FAILED = new Set(['error', 'failure', 'failed']);

export function openInvocation({ id, ctx, variables, answers, surfaces }) {
  const abort = new AbortController();
  return {
    id,
    given: ctx,
    answers,
    surfaces,
    abort,
    closed: false,
    underWay: 0,
    whenIdle: undefined,
    isLate: false,
    calls: 0,
    logs: 0,
    suspensions: 0,
    pending: new Map(),
    used: new Set(),
    absences: newAbsences(),
    variables: new Map(Object.entries(variables)),
    written: new Set(),
  };
}

/** A bare object is the outputs, as on the host. */
function resultIn(end) {
  if (end.kind === 'suspended') return [end.request, 'request'];
  const { value } = end;
  const isWrapped = ['outputs', 'request', 'error'].some((name) => typeof value?.[name] === 'object');
  return [value, isWrapped ? '' : 'outputs'];
}

function whyUnsent(end, variables, error) {
  try {
    const [result, name] = resultIn(end);
    if (error instanceof TooLarge) {
      const sent = name === '' ? { ...result, variables } : { [name]: result, variables };
      return `${largestIn(sent, '') || 'it'} is too large. ${error.message}`;
    }
    return whyUnsendable(result, name) ?? whyUnsendable(variables, 'variables') ?? `${error.message}`;
  } catch {
    return 'it cannot be read.';
  }
}

/** Replaces an end that no frame can carry. */
function sendable(end, variables, error) {
  if (end.kind === 'thrown') return { kind: 'thrown', error: withoutDetails(end.error) };
  const message = `The result cannot be sent: ${whyUnsent(end, variables, error)}`;
  return { kind: 'thrown', error: { code: 'sandbox_invocation_error', message } };
}

/** I1. */
export function settle(invocation, end) {
  if (invocation.closed) return;
  invocation.closed = true;
  invocations.delete(invocation.id);
  const { id } = invocation;
  const written = [...invocation.written].map((name) => [name, invocation.variables.get(name)]);
  const variables = Object.fromEntries(written);
  try {
    send({ type: 'result', id, end, variables });
  } catch (error) {
    send({ type: 'result', id, end: sendable(end, variables, error), variables: {} });
  }
}

const errorOf = (invocation, thrown) => withAbsence(invocation, describe(thrown));

export const settleThrown = (invocation, thrown) =>
  settle(invocation, { kind: 'thrown', error: errorOf(invocation, thrown) });

function remind(invocation) {
  const methods = new Set([...invocation.pending.values()].map(({ method }) => method));
  const names = [...methods].join(', ') || 'events';
  log(invocation, 'warn', `The node has returned and waits for what it did not await: ${names}.`);
}

/** I2. */
export function settleReturned(invocation, value) {
  const end = { kind: 'returned', value };
  const hasFailed = FAILED.has(value?.status) && value.error !== undefined;
  if (hasFailed) return settle(invocation, end);
  const isIdle = () => invocation.underWay === 0;
  const reminder = isIdle() ? undefined : after(() => remind(invocation), REMIND_MS);
  const settleIfIdle = () => {
    if (!isIdle()) return;
    never(reminder);
    settle(invocation, end);
  };
  invocation.whenIdle = () => isIdle() && afterThisTurn(settleIfIdle);
  invocation.whenIdle();
}

function notAwaited(invocation, thrown) {
  const error = errorOf(invocation, thrown);
  const what = methodOf(thrown) ?? 'A promise';
  const hint = 'Is an `await` missing, there or where its function is called?';
  return { ...error, message: `${what} failed, and its promise was not awaited: ${error.message} ${hint}` };
}

/** I3. */
export function settleUnheard(invocation, thrown) {
  if (!invocation.closed) settle(invocation, { kind: 'thrown', error: notAwaited(invocation, thrown) });
  else reportLate(invocation, thrown);
}

export function reportLate(invocation, thrown) {
  if (invocation.isLate) return;
  invocation.isLate = true;
  send({ type: 'late', id: invocation.id, error: withoutDetails(describe(thrown)) });
}

/** The first time, this ends the invocation. When the node runs again, the stored answer is returned. */
export function suspend(invocation, request) {
  needStack();
  const ordinal = invocation.suspensions++;
  const { nodeId } = invocation.given;
  const key = `${request?.resumeKey ?? request?.key ?? (ordinal === 0 ? nodeId : `${nodeId}:${ordinal}`)}`;
  if (Object.hasOwn(invocation.answers, key)) return { answered: true, value: invocation.answers[key] };
  settle(invocation, { kind: 'suspended', key, request: request ?? {} });
  return { answered: false };
}
