/** The object that a node is called with: plain, with own members that need no `this`. */
import { newAbsences, watched, withAbsence } from './absent.mjs';
import { emitEvent, send } from './channel.mjs';
import { log } from './globals.mjs';
import { toRequest, toResponse } from './network.mjs';
import { call, callSync, invocations } from './scope.mjs';

export function openInvocation({ id, ctx, variables, answers, surfaces }) {
  const abort = new AbortController();
  return {
    id,
    given: ctx,
    answers,
    surfaces,
    abort,
    closed: false,
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

const toldEnd = ({ absences }, end) =>
  end.kind === 'thrown' ? { ...end, error: withAbsence(absences, end.error) } : end;

/** Nothing leaves on behalf of an invocation after its result. */
export function settle(invocation, end) {
  if (invocation.closed) return;
  invocation.closed = true;
  invocations.delete(invocation.id);
  const written = [...invocation.written].map((name) => [name, invocation.variables.get(name)]);
  const variables = Object.fromEntries(written);
  try {
    send({ type: 'result', id: invocation.id, end: toldEnd(invocation, end), variables });
  } catch (error) {
    const reason = {
      message: `The result cannot be sent: ${error.message}`,
      code: 'sandbox_invocation_error',
    };
    send({ type: 'result', id: invocation.id, end: { kind: 'thrown', error: reason }, variables: {} });
  }
}

/** The first time the run stops here for good; when it is run again, the stored answer is returned. */
export function suspend(invocation, request) {
  const ordinal = invocation.suspensions++;
  const { nodeId } = invocation.given;
  const key = `${request?.resumeKey ?? request?.key ?? (ordinal === 0 ? nodeId : `${nodeId}:${ordinal}`)}`;
  if (Object.hasOwn(invocation.answers, key)) return { answered: true, value: invocation.answers[key] };
  settle(invocation, { kind: 'suspended', key, request: request ?? {} });
  return { answered: false };
}

const forever = () => new Promise(() => {});

const variablesOf = (invocation) => ({
  get: (name) => structuredClone(invocation.variables.get(`${name}`)),
  set: (name, value) => {
    invocation.variables.set(`${name}`, structuredClone(value));
    invocation.written.add(`${name}`);
  },
});

/** What the host says before its answer, in order, as something to iterate over. */
function stream(invocation, path, args) {
  const queue = [];
  let wake = () => {};
  let end;
  const onEvent = (value) => {
    queue.push(value);
    wake();
  };
  call(invocation, path, args, onEvent).then(
    (value) => {
      end = { value };
      wake();
    },
    (error) => {
      end = { error };
      wake();
    },
  );
  return (async function* items() {
    for (;;) {
      while (queue.length > 0) yield queue.shift();
      if (end?.error) throw end.error;
      if (end) return end.value;
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  })();
}

const KINDS = {
  unary:
    (invocation, path) =>
    (...args) =>
      call(invocation, path, args),
  sync:
    (invocation, path) =>
    (...args) => {
      if (invocation.closed) throw new Error(`${path} was called after the node had ended.`);
      return callSync(invocation, path, args);
    },
  callback:
    (invocation, path) =>
    (...args) => {
      const onEvent = typeof args.at(-1) === 'function' ? args.pop() : () => {};
      return call(invocation, path, args, onEvent);
    },
  stream:
    (invocation, path) =>
    (...args) =>
      stream(invocation, path, args),
  response: (invocation, path) => async (input, init) =>
    toResponse(await call(invocation, path, await toRequest(input, init))),
  terminate: () => (request) => ({ status: 'terminate', request }),
  directive: () => (request) => ({ status: 'directive', request }),
};

/** `storage.kv.get` becomes `ctx.storage.kv.get`; a function may have members too. */
function place(ctx, path, member, absences) {
  const names = path.split('.');
  const last = names.pop();
  let owner = ctx;
  let under = '';
  for (const name of names) {
    under += `${name}.`;
    if (!Object.hasOwn(owner, name)) owner[name] = watched({}, under, absences);
    owner = owner[name];
  }
  owner[last] = Object.hasOwn(owner, last) ? Object.assign(member, owner[last]) : member;
}

export function makeCtx(invocation) {
  const { given, abort } = invocation;
  const ctx = {
    ...given,
    signal: abort.signal,
    log: (level, message, data) => log(invocation, level, message, data),
    emit: (value) =>
      invocation.closed
        ? Promise.resolve()
        : emitEvent({ id: invocation.id, call: invocation.calls++ }, value),
    variables: variablesOf(invocation),
    suspend: async (request) => {
      const { answered, value } = suspend(invocation, request);
      return answered ? value : forever();
    },
  };
  for (const [path, kind] of Object.entries(invocation.surfaces))
    place(ctx, path, KINDS[kind](invocation, path), invocation.absences);
  return watched(ctx, '', invocation.absences);
}
