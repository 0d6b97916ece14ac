/** The object that is passed to a node: plain, with own members that need no `this`. */

import { watched } from './absent.mjs';
import { emitEvent } from './channel.mjs';
import { needStack } from './frames.mjs';
import { log } from './globals.mjs';
import { suspend } from './invocation.mjs';
import { callForResponse } from './network.mjs';
import { packNumbers } from './numbers.mjs';
import { call, callSync, listenTo, underWay } from './scope.mjs';

const forever = () => new Promise(() => {});

const variablesOf = (invocation) => ({
  get: (name) => structuredClone(invocation.variables.get(`${name}`)),
  set: (name, value) => {
    invocation.variables.set(`${name}`, structuredClone(value));
    invocation.written.add(`${name}`);
  },
});

/** The events that the host sends before its answer, in order, as an async iterable. */
function stream(invocation, path, args) {
  const queue = [];
  let wake = () => {};
  let end;
  const onEvent = (value) => {
    queue.push(value);
    wake();
  };
  const onEnd = (name) => (value) => {
    end = { [name]: value };
    wake();
  };
  listenTo(invocation, path, args, onEvent).then(onEnd('value'), onEnd('error'));
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
  unary: (invocation, path, args) => call(invocation, path, args),
  numbers: (invocation, path, args) => call(invocation, path, args.map(packNumbers)),
  sync(invocation, path, args) {
    if (invocation.closed) throw new Error(`${path} was called after the node had ended.`);
    return callSync(invocation, path, args);
  },
  callback(invocation, path, args) {
    const onEvent = typeof args.at(-1) === 'function' ? args.pop() : () => {};
    return listenTo(invocation, path, args, onEvent);
  },
  stream,
  response: (invocation, path, [input, init]) => callForResponse(invocation, path, input, init),
  terminate: (_invocation, _path, [request]) => ({ status: 'terminate', request }),
  directive: (_invocation, _path, [request]) => ({ status: 'directive', request }),
};

/** `storage.kv.get` becomes `ctx.storage.kv.get`; a function may have members too. */
function addMember(ctx, path, member, absences) {
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

/** Need not be awaited: an event that cannot be stored is dropped, and the log of the node reports it. */
function emit(invocation, value) {
  if (invocation.closed) return Promise.resolve();
  needStack();
  const head = { id: invocation.id, call: invocation.calls++ };
  const sent = underWay(invocation, () => emitEvent(head, value));
  sent.catch(() => {});
  return sent;
}

export function makeCtx(invocation) {
  const { given, abort } = invocation;
  const ctx = {
    ...given,
    signal: abort.signal,
    log: (level, message, data) => log(invocation, level, message, data),
    emit: (value) => emit(invocation, value),
    variables: variablesOf(invocation),
    suspend: async (request) => {
      const { answered, value } = suspend(invocation, request);
      return answered ? value : forever();
    },
  };
  for (const [path, kind] of Object.entries(invocation.surfaces))
    if (kind !== 'denied')
      addMember(ctx, path, (...args) => KINDS[kind](invocation, path, args), invocation.absences);
  return watched(ctx, '', invocation.absences);
}
