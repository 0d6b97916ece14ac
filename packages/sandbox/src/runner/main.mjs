/** The process that runs pack code. Started by the host; frames say what to load and run. */
import { lockBuiltins } from './builtins.mjs';
import { failure, giveCredit, listen, send } from './channel.mjs';
import { makeCtx } from './ctx.mjs';
import { setPackFolder } from './frames.mjs';
import { replaceGlobals } from './globals.mjs';
import { freezeIntrinsics } from './intrinsics.mjs';
import {
  openInvocation,
  reportLate,
  settle,
  settleReturned,
  settleThrown,
  settleUnheard,
} from './invocation.mjs';
import { closeDefaultLoader, load, prepareLoader } from './loader.mjs';
import { current, invocations, runAs, setGrants } from './scope.mjs';
import { describe } from './thrown.mjs';

const exit = process.exit.bind(process);
/** Enabled by a flag of the host; hidden from pack code. */
const { gc: collectGarbage } = globalThis;
globalThis.gc = undefined;
const onProcess = process.on.bind(process);

/** The pack's functions by type id, in any of the supported export forms. */
function nodesOf(namespace) {
  const nodes = Object.create(null);
  const offer = (table, toCall) => {
    if ((typeof table !== 'object' && typeof table !== 'function') || table === null) return;
    for (const [typeId, fn] of Object.entries(table))
      if (typeof fn === 'function' && !(typeId in nodes)) nodes[typeId] = toCall(fn);
  };
  const plainly = (fn) => (ctx) => fn(ctx);
  offer(namespace.nodes, plainly);
  offer(namespace.default, plainly);
  offer(namespace.nodeHandlers, (fn) => (ctx) => fn(ctx.inputs, ctx));
  offer(namespace.default?.nodes, plainly);
  return nodes;
}

/** Loads the WASM part of the runner only for WASM packs, and before imports are closed. */
const loaderOf = async (language) =>
  language === 'wasm' ? (await import('./wasm.mjs')).loadWasm : loadModule;

async function loadModule(_, entry, { format }) {
  const isCommonJs = format === 'commonjs' || format === 'cjs' || entry.endsWith('.cjs');
  return nodesOf(await load(entry, isCommonJs));
}

let nodes = Object.create(null);

async function open(message) {
  const { language, folder, entry } = message;
  const loadNodes = await loaderOf(language);
  setGrants(message.grants);
  setPackFolder(folder);
  prepareLoader(folder);
  replaceGlobals(message.envNames);
  lockBuiltins();
  freezeIntrinsics();
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
    settleReturned(invocation, await node(makeCtx(invocation), invocation));
  } catch (error) {
    settleThrown(invocation, error);
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
  else pending.reject(failure(error, pending));
}

function event({ id, call, value }) {
  const invocation = invocations.get(id);
  const pending = invocation?.pending.get(call);
  if (!pending) return;
  const deliver = async () => pending.onEvent?.(value);
  runAs(invocation, deliver).then(() => {
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
  collect: () => collectGarbage?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  ping: ({ token }) => send({ type: 'pong', token }),
};

/** Fails the invocation that it belongs to, not the process. */
onProcess('unhandledRejection', (reason) => {
  const invocation = current();
  if (invocation) settleUnheard(invocation, reason);
});
/** A failure left behind by a node that has ended must not end other invocations in the process. */
onProcess('uncaughtException', (thrown) => {
  const invocation = current();
  if (invocation?.closed) return reportLate(invocation, thrown);
  send({ type: 'crash', error: describe(thrown) });
  exit(1);
});

listen((message) => receivers[message.type](message));
