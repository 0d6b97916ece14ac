/** The process that pack code lives in. Started by the host, told by frames what to load and run. */
import { builtinModules } from 'node:module';
import { lockBuiltins } from './builtins.mjs';
import { failure, giveCredit, listen, send } from './channel.mjs';
import { makeCtx, openInvocation, settle } from './ctx.mjs';
import { replaceGlobals } from './globals.mjs';
import { closeDefaultLoader, load, prepareLoader } from './loader.mjs';
import { invocations, runAs, setGrants } from './scope.mjs';

const exit = process.exit.bind(process);
const onProcess = process.on.bind(process);

/** The pack's functions by type id, however it exports them. */
function nodesOf(namespace) {
  const nodes = Object.create(null);
  const offer = (table, toCall) => {
    if ((typeof table !== 'object' && typeof table !== 'function') || table === null) return;
    for (const [typeId, fn] of Object.entries(table))
      if (typeof fn === 'function' && !(typeId in nodes)) nodes[typeId] = toCall(fn);
  };
  offer(namespace.nodes, (fn) => (ctx) => fn(ctx));
  offer(namespace.default, (fn) => (ctx) => fn(ctx));
  offer(namespace.nodeHandlers, (fn) => (ctx) => fn(ctx.inputs, ctx));
  if (namespace.default?.nodes) offer(namespace.default.nodes, (fn) => (ctx) => fn(ctx));
  return nodes;
}

/** Only what runs WASM loads its part of the runner, and before the way to it is closed. */
const loaderOf = async (language) =>
  language === 'wasm' ? (await import('./wasm.mjs')).loadWasm : loadModule;

async function loadModule(_, entry, { format }) {
  const isCommonJs = format === 'commonjs' || format === 'cjs' || entry.endsWith('.cjs');
  return nodesOf(await load(entry, isCommonJs));
}

/** Reads only own or inherited data of whatever was thrown; a getter that throws is not our problem. */
function describe(thrown) {
  try {
    if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null)
      return { message: `${thrown}` };
    const { message, code, details, retryable, capability, name } = thrown;
    return {
      message: `${message ?? name ?? 'The pack threw an object.'}`,
      code,
      details,
      retryable,
      capability,
    };
  } catch {
    return { message: 'The pack threw something that cannot be read.' };
  }
}

let nodes = Object.create(null);

async function open(message) {
  const { language, folder, entry } = message;
  const loadNodes = await loaderOf(language);
  setGrants(message.grants);
  prepareLoader(folder, builtinModules);
  replaceGlobals(message.envNames);
  lockBuiltins();
  closeDefaultLoader();
  send({ type: 'opening' });
  try {
    nodes = await loadNodes(folder, entry, message);
    send({ type: 'ready', typeIds: Object.keys(nodes) });
  } catch (error) {
    send({ type: 'failed', error: describe(error) });
  }
}

async function run(invocation, node) {
  try {
    const value = await node(makeCtx(invocation), invocation);
    settle(invocation, { kind: 'returned', value });
  } catch (error) {
    settle(invocation, { kind: 'thrown', error: describe(error) });
  }
}

function invoke(message) {
  const invocation = openInvocation(message);
  invocations.set(message.id, invocation);
  const node = nodes[message.typeId];
  if (node) runAs(invocation, run, invocation, node);
  else {
    const error = { message: `The pack exports no ${message.typeId}.`, code: 'unknown_type_id' };
    settle(invocation, { kind: 'thrown', error });
  }
}

function answer({ id, call, ok, value, error }) {
  const invocation = invocations.get(id);
  const pending = invocation?.pending.get(call);
  if (!pending) return;
  invocation.pending.delete(call);
  if (ok) pending.resolve(value);
  else pending.reject(failure(error));
}

function event({ id, call, value }) {
  const invocation = invocations.get(id);
  const pending = invocation?.pending.get(call);
  if (!pending) return;
  const hear = async () => pending.onEvent?.(value);
  runAs(invocation, hear).then(() => {
    if (!invocation.closed) send({ type: 'ack', id, call });
  }, pending.reject);
}

const receivers = {
  open,
  invoke,
  answer,
  event,
  credit: ({ bytes }) => giveCredit(bytes),
  cancel: ({ id }) => invocations.get(id)?.abort.abort(),
  ping: ({ token }) => send({ type: 'pong', token }),
};

/** A promise nobody waited for fails the invocations it could belong to, not the process. */
onProcess('unhandledRejection', (reason) => {
  const error = describe(reason);
  for (const invocation of invocations.values())
    if (invocations.size === 1) settle(invocation, { kind: 'thrown', error });
});
onProcess('uncaughtException', (thrown) => {
  send({ type: 'crash', error: describe(thrown) });
  exit(1);
});

listen((message) => receivers[message.type](message));
