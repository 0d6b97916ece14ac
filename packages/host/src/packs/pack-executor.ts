/**
 * Runs nodes whose code is a pack's.
 *
 * I1  A node that acts on the world is claimed as a whole before it runs and recorded before the run goes on. What
 *     is claimed and not recorded is in doubt and never run again by itself.
 * I2  Other nodes are simply run again after a crash of the host or of their process.
 * I3  Everything that a node told is in the log before its settlement.
 */
import type { Invocation, Outcome, PackInvocation } from '@gantry/engine';
import { unmetRequirements } from '@gantry/packs';
import { OpenwopError, type RunError } from '@gantry/protocol';
import type { InvocationOutcome, Sandbox, Invocation as SandboxInvocation } from '@gantry/sandbox';
import type { RunKey } from '@gantry/store';
import { type InvocationLog, inDoubt } from '../runtime/invocation-log.ts';
import type { Executor, NodeWork } from '../runtime/side-effect.ts';
import type { CodeFolders } from './code-folders.ts';
import { EventFeed } from './event-feed.ts';
import { outcomeOf } from './node-result.ts';
import type { VersionRecord } from './pack-record.ts';
import type { PackShelf } from './pack-shelf.ts';
import type { Receipts } from './receipts.ts';
import type { Sandboxes } from './sandboxes.ts';
import { SideEffectGuard } from './side-effect-guard.ts';

/** A process that went down under a node that may be repeated is replaced so often. */
const RESTARTS_MAX = 2;
const PROCESS_GONE = 'sandbox_invocation_error';
const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;

export interface PackExecutorOptions {
  readonly shelf: PackShelf;
  readonly folders: CodeFolders;
  readonly sandboxes: Sandboxes;
  readonly receipts: Receipts;
  readonly memoryBytes: number;
  readonly wallClockMs: number;
}

interface Task {
  readonly key: RunKey;
  readonly invocation: Invocation;
  readonly pack: PackInvocation;
  readonly signal: AbortSignal;
  readonly work: NodeWork;
  readonly log: InvocationLog;
}

export const packExecutor =
  (options: PackExecutorOptions) =>
  (log: InvocationLog): Executor =>
  async (key, invocation, signal, work) => {
    const { pack } = invocation;
    if (!pack) throw new Error(`${invocation.typeId} is no type of a pack`);
    const task: Task = { key, invocation, pack, signal, work, log };
    try {
      const ready = await prepare(options, task);
      return await (pack.effect === 'effect' ? once(task, ready) : repeatedly(task, ready));
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      const { code, message, details } = error;
      return refused({ code, message, ...(details && { details }) });
    }
  };

const refused = (error: RunError): Outcome => ({ ok: false, retryable: false, error });

type Ready = () => Promise<Outcome>;

/**
 * I1. The claim carries attempt and round: a retry, or the call after an answer, is another effect. An attempt that
 * was given up, for instance when its time was over, may have acted all the same.
 */
async function once({ key, invocation, pack, log }: Task, run: Ready): Promise<Outcome> {
  const { nodeId, ordinalBase, attempt } = invocation;
  const round = Object.keys(pack.answers).length;
  const effectOf = (tried: number) => ({
    ...{ ...key, nodeId, ordinal: ordinalBase },
    providerKey: `pack\0${pack.packName}\0${tried}\0${round}`,
  });
  const before = effectOf(attempt - 1);
  if (attempt > 0 && (await log.isOpen(before))) return inDoubt(before);
  const effect = { ...effectOf(attempt), idempotent: false };
  return log.perform<Outcome>(effect, async () => withDoubt(await run()));
}

/** Nobody knows how far a process got that went down. */
function withDoubt(outcome: Outcome): Outcome {
  if (!('ok' in outcome) || outcome.ok || outcome.error.code !== PROCESS_GONE) return outcome;
  const message = `${outcome.error.message} Whether the node acted is not known, and it is not declared idempotent.`;
  return refused({ code: 'effect_in_doubt', message });
}

/** I2. */
async function repeatedly({ signal }: Task, run: Ready): Promise<Outcome> {
  for (let restarts = 0; ; restarts++) {
    const outcome = await run();
    const isGone = 'ok' in outcome && !outcome.ok && outcome.error.code === PROCESS_GONE;
    if (!isGone || restarts === RESTARTS_MAX || signal.aborted) return outcome;
  }
}

/** Everything that can be refused is, before any code is touched. */
async function prepare(options: PackExecutorOptions, task: Task): Promise<Ready> {
  const { pack, key, invocation } = task;
  const version = await options.shelf.version(pack.integrity);
  const node = version.nodes.find(({ typeId }) => typeId === invocation.typeId);
  if (node?.refusal) return async () => refused(node.refusal!);
  const grants = await options.shelf.granted(key.tenant, pack.packName);
  const unmet = unmetRequirements(version.requires, grants);
  const manifest = `${version.name}@${version.version}`;
  if (unmet.length > 0)
    throw new OpenwopError('pack_runtime_requirement_unmet', { details: { manifest, unmet } });
  const sandbox = await options.sandboxes.for(version.source);
  const folder = await options.folders.folderOf(version);
  const granted = version.requires.filter(
    (requirement) => unmetRequirements([requirement], grants).length === 0,
  );
  return () => invoke(options, task, { sandbox, folder, granted, version });
}

interface Prepared {
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly granted: readonly string[];
  readonly version: VersionRecord;
}

async function invoke(options: PackExecutorOptions, task: Task, prepared: Prepared): Promise<Outcome> {
  const feed = new EventFeed(task.work.emit);
  const outcome = await prepared.sandbox.invoke(sandboxInvocation(options, task, prepared, feed));
  task.signal.throwIfAborted();
  const { name, version, code } = prepared.version;
  options.receipts.note({ tenant: task.key.tenant, name, version, used: outcome.used });
  if (code?.language === 'wasm') await tellBreach(options, task, outcome);
  await feed.drained();
  return outcomeOf(outcome);
}

function sandboxInvocation(
  { memoryBytes, wallClockMs }: PackExecutorOptions,
  { key, invocation, pack, signal, work, log }: Task,
  { folder, granted, version }: Prepared,
  feed: EventFeed,
): SandboxInvocation {
  const { code, name, version: packVersion } = version;
  if (!code) throw new Error(`${name}@${packVersion} has no code`);
  const { nodeId, attempt, inputs, config, ordinalBase, typeId } = invocation;
  const { owner, configurable, triggerData } = work.facts;
  const { workspace = '', principal = '' } = owner;
  const guard = new SideEffectGuard(log, { ...key, nodeId, ordinalBase });
  const { memoryPagesMax } = code;
  return {
    code: {
      ...code,
      name,
      version: packVersion,
      folder,
      ...(memoryPagesMax && { wasm: { memoryPagesMax } }),
    },
    key: { tenant: key.tenant, workspace, principal: processOf(principal, pack, key, nodeId) },
    grants: granted,
    typeId,
    ctx: {
      ...{ runId: key.runId, nodeId, attempt, inputs, config, configurable },
      trustBoundary: triggerData ? 'untrusted' : 'trusted',
      ...(triggerData && { triggerData }),
      ...(owner.principal !== undefined && { userId: owner.principal }),
    },
    variables: pack.variables,
    answers: pack.answers,
    limits: { memoryBytes, wallClockMs, outputBytes: OUTPUT_BYTES_MAX },
    surfaces: surfacesFor(pack),
    signal,
    call: (method, args) => callGuard(guard, method, args),
    emit: (event) => feed.emit(event),
    log: (level, message, data) => feed.log(level, message, data),
  };
}

/**
 * The sandbox runs the neighbours of a killed invocation again. A node that acts must not run twice unseen, so
 * it gets a process of its own.
 */
const processOf = (
  principal: string,
  { effect }: PackInvocation,
  { runId }: RunKey,
  nodeId: string,
): string => (effect === 'effect' ? `${principal}\0${runId}\0${nodeId}` : principal);

/** A node declared pure has nothing to guard, and gets no way to act. */
const surfacesFor = ({ effect }: PackInvocation): SandboxInvocation['surfaces'] => ({
  terminate: 'terminate',
  applyErrorDirective: 'directive',
  ...(effect !== 'pure' && GUARD),
});

const GUARD = {
  'sideEffects.tryAcquire': 'sync',
  'sideEffects.markCompleted': 'sync',
  'sideEffects.markFailed': 'sync',
} as const;

type Arguments = Parameters<SandboxInvocation['call']>[1];

function callGuard(guard: SideEffectGuard, method: string, args: Arguments) {
  const [first = null, second = null] = args;
  if (method === 'sideEffects.tryAcquire') return guard.tryAcquire(first);
  if (method === 'sideEffects.markCompleted') return guard.markCompleted(first, second);
  if (method === 'sideEffects.markFailed') return guard.markFailed(first, second);
  throw new OpenwopError('capability_not_provided', { message: `This host does not offer ctx.${method}.` });
}

const BREACHES: Readonly<Record<string, 'wasm-memory' | 'wasm-execution-time'>> = {
  sandbox_memory_exceeded: 'wasm-memory',
  sandbox_timeout: 'wasm-execution-time',
};

/** The protocol wants breaches of WebAssembly on record beside the failure. */
async function tellBreach(
  { memoryBytes, wallClockMs }: PackExecutorOptions,
  { work }: Task,
  { result, durationMs }: InvocationOutcome,
): Promise<void> {
  const kind = result.status === 'error' ? BREACHES[result.error.code] : undefined;
  if (kind === undefined) return;
  const [limit, observed] = kind === 'wasm-memory' ? [memoryBytes, memoryBytes] : [wallClockMs, durationMs];
  await work.emit([{ type: 'cap.breached', payload: { kind, limit, observed } }]);
}
