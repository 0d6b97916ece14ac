/**
 * Runs nodes whose code is a pack's.
 *
 * I1  A node that may have effects that the host does not see is claimed as a whole before it runs, and recorded before
 *     the run continues. A node that is claimed and not recorded is in doubt and never run again automatically.
 * I2  Other nodes are run again after a crash of the host or of their process: their calls to the host are journaled
 *     one by one.
 * I3  Everything that a node emitted is in the log before its settlement.
 */
import type { Outcome, SchemaCheck } from '@gantry/engine';
import { covers, unmetRequirements } from '@gantry/packs';
import { type JsonObject, OpenwopError, type RunError } from '@gantry/protocol';
import type { ErrorOrigin, InvocationOutcome } from '@gantry/sandbox';
import type { Store } from '@gantry/store';
import { askingNode } from '../ai/ai.ts';
import { type GatedNode, type ModelGate, ModelInsufficient } from '../ai/model-gate.ts';
import type { Redactions } from '../redaction/redactions.ts';
import { type InvocationLog, inDoubt } from '../runtime/invocation-log.ts';
import type { Executor } from '../runtime/outside-work.ts';
import { compileUserSchema } from '../workflows/user-schema.ts';
import { actionTurn } from './action-rate.ts';
import { type CodeCall, type CodeCalls, prepareCall, type Task } from './code-call.ts';
import { EventFeed } from './event-feed.ts';
import type { SecretMembers } from './node-controls/node-secrets.ts';
import { Stop } from './node-controls/stop.ts';
import { outcomeOf } from './node-result.ts';
import type { VersionRecord } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';
import type { Receipts } from './receipts.ts';

/** How often a crashed process is replaced under a node that may be repeated. */
const RESTARTS_MAX = 2;

export interface PackExecutorOptions extends CodeCalls {
  readonly records: PackRecords;
  readonly receipts: Receipts;
  /** The names that `requires` of a node may contain. */
  readonly runtimeCapabilities: readonly string[];
  readonly redactions: Redactions;
  readonly modelGate: ModelGate;
  /** Names of packs whose outputs may violate their own schema: the run logs only a warning. */
  readonly outputsWarned: readonly string[];
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly now: () => number;
}

export const packExecutor =
  (options: PackExecutorOptions) =>
  (log: InvocationLog): Executor =>
  async (key, execution, signal, work) => {
    const { pack } = execution;
    if (!pack) throw new Error(`${execution.typeId} is not a type of a pack`);
    const task: Task = { key, execution, pack, signal, work, log };
    try {
      const ready = await prepare(options, task);
      return await (ready.acts ? once(task, ready.run) : repeatedly(task, ready.run));
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      const { code, message, details, retriable } = error;
      const untold = error instanceof ModelInsufficient ? { untold: [error.event] } : {};
      return { ...refused({ code, message, ...(details && { details }) }, retriable), ...untold };
    }
  };

const refused = (error: RunError, retryable = false): Outcome => ({ ok: false, retryable, error });

/** The end of pack code. Only failures have an origin, which alone decides how they are handled. */
interface Ended {
  readonly outcome: Outcome;
  readonly origin?: ErrorOrigin;
}

type Run = () => Promise<Ended>;

interface Ready {
  /** The node may have effects that are not journaled. */
  readonly acts: boolean;
  readonly run: Run;
}

/**
 * I1. The claim includes attempt and round: a retry, or the call after an answer, is another effect. An attempt that
 * was cancelled, for instance after its time limit, may still have acted.
 */
async function once({ key, execution, pack, log }: Task, run: Run): Promise<Outcome> {
  const { nodeId, ordinalBase, attempt } = execution;
  const effectOf = (tried: number) => ({
    ...key,
    nodeId,
    ordinal: ordinalBase,
    providerKey: `pack\0${pack.packName}\0${tried}\0${pack.rounds}`,
  });
  const before = effectOf(attempt - 1);
  if (attempt > 0 && (await log.isOpen(before))) return inDoubt(before);
  const effect = { ...effectOf(attempt), idempotent: false };
  return log.perform<Outcome>(effect, async () => withDoubt(await run()));
}

/** The progress of code that was cut off is unknown. */
function withDoubt({ outcome, origin }: Ended): Outcome {
  if (!('ok' in outcome) || outcome.ok) return outcome;
  if (origin === 'host') return { ...outcome, retryable: false };
  if (origin !== 'process') return outcome;
  const message = `${outcome.error.message} Whether the node acted is not known, and it is not declared idempotent.`;
  return { ...outcome, ...refused({ code: 'effect_in_doubt', message }) };
}

/** I2. */
async function repeatedly({ signal }: Task, run: Run): Promise<Outcome> {
  for (let restarts = 0; ; restarts++) {
    const { outcome, origin } = await run();
    if (origin !== 'process' || restarts === RESTARTS_MAX || signal.aborted) return outcome;
  }
}

/** All checks that may refuse the node, before any code is used. */
async function prepare(options: PackExecutorOptions, task: Task): Promise<Ready> {
  const { pack, key, execution } = task;
  const version = await options.records.version(pack.integrity);
  const node = version.nodes.find(({ typeId }) => typeId === execution.typeId);
  checkCapabilities(options, node?.requires ?? []);
  const grants = await options.records.granted(key.tenant, version);
  const unmet = unmetRequirements(version.requires, grants);
  const manifest = `${version.name}@${version.version}`;
  if (unmet.length > 0)
    throw new OpenwopError('pack_runtime_requirement_unmet', { details: { manifest, unmet } });
  if (node?.rateLimit) {
    const { typeId, rateLimit } = node;
    const action = { tenant: key.tenant, packName: version.name, typeId };
    await actionTurn(options, action, rateLimit, task.signal);
  }
  if (node?.model)
    await options.modelGate(nodeOf(task), node.model, { ...execution.config, ...execution.inputs });
  const acts = pack.effect === 'effect' && canActUnseen(version);
  const members = await secretsOf(options, task, version);
  const call = await prepareCall(options, version, { acts, grants, members });
  return { acts, run: () => invoke(options, task, version, call) };
}

const nodeOf = ({ execution: { nodeId, ordinalBase }, signal, work }: Task): GatedNode =>
  askingNode(work, nodeId, { signal, ordinalBase });

function checkCapabilities({ runtimeCapabilities }: PackExecutorOptions, requires: readonly string[]): void {
  const missing = requires.filter((name) => !runtimeCapabilities.includes(name));
  if (missing.length === 0) return;
  const offered = runtimeCapabilities.join(', ') || 'none';
  throw new OpenwopError('capability_not_provided', {
    message: `The node requires ${missing.join(', ')}, which this host does not provide. It provides: ${offered}.`,
    details: { capability: missing[0]!, missing },
  });
}

/** Resolved again at each dispatch of the node. A remote server gets no values. */
async function secretsOf(
  { secrets }: PackExecutorOptions,
  { key, execution: { typeId, nodeId, attempt }, work }: Task,
  { name, version, nodes, code }: VersionRecord,
): Promise<SecretMembers> {
  const { needs } = nodes.find((node) => node.typeId === typeId) ?? {};
  if (!needs) return {};
  if (code?.language === 'remote' && (needs.credentials.length > 0 || needs.auth))
    throw new OpenwopError('credential_unavailable', {
      message:
        'A remote pack cannot receive values of credentials. Its author has to use references: requiresSecrets.',
    });
  const { owner } = work;
  return secrets(needs, { owner, runId: key.runId, nodeId, attempt, work, pack: { name, version } });
}

/** Calls of surfaces and `fetch` are journaled one by one; writing files is not. */
const canActUnseen = ({ requires, code }: VersionRecord): boolean =>
  code?.language === 'remote' || requires.some((required) => covers(required, 'fs.write'));

async function invoke(
  options: PackExecutorOptions,
  task: Task,
  version: VersionRecord,
  call: CodeCall,
): Promise<Ended> {
  const { signal, work, key } = task;
  const stop = new Stop();
  const redactor = () => options.redactions.of(key.tenant);
  const feed = new EventFeed((events) => work.emit(events), redactor);
  const outcome = await call(task, { stop, feed });
  signal.throwIfAborted();
  const misfit = stop.wanted ? undefined : misfitOf(version, task, outcome);
  const isWarned = misfit !== undefined && options.outputsWarned.includes(version.name);
  if (isWarned) feed.log('warn', misfit.message);
  options.receipts.note(key.tenant, version, outcome.used);
  if (version.code?.language === 'wasm') await tellBreach(options, feed, outcome);
  await feed.end();
  const { stop: exhausted } = work.run;
  if (exhausted) return { outcome: { exhausted, ...feed.untold() } };
  if (stop.wanted) return { outcome: { ...stop.wanted, ...feed.untold() } };
  if (misfit && !isWarned) return { outcome: { ...refused(misfit), ...feed.untold() } };
  const { result } = outcome;
  const origin = result.status === 'error' ? { origin: result.origin } : {};
  return { outcome: { ...outcomeOf(outcome), ...feed.untold() }, ...origin };
}

/** Outputs have to match the schema that the pack declares. */
function misfitOf(
  { name, version, nodes }: VersionRecord,
  { execution }: Task,
  { result }: InvocationOutcome,
): RunError | undefined {
  const { outputSchema } = nodes.find(({ typeId }) => typeId === execution.typeId) ?? {};
  if (result.status !== 'success' || !outputSchema) return;
  const misfit = checkOf(outputSchema)(result.outputs);
  if (!misfit) return;
  const { message } = misfit;
  const path = misfit.path || '/';
  return {
    code: 'validation_error',
    message:
      `The outputs of the node: ${path} ${message}. ${name}@${version} violates the schema that it declares: report it ` +
      'to its publisher. For packs that GANTRY_PACK_OUTPUTS_WARN names, this is a warning.',
    details: { path },
  };
}

/** Schemas of versions that are in memory. */
const checks = new WeakMap<JsonObject, SchemaCheck>();

function checkOf(schema: JsonObject): SchemaCheck {
  const known = checks.get(schema);
  if (known) return known;
  const compiled = compileUserSchema(schema);
  // It was checked when the pack was installed
  if (typeof compiled === 'string') throw new Error(compiled);
  checks.set(schema, compiled);
  return compiled;
}

const BREACHES: Readonly<Record<string, 'wasm-memory' | 'wasm-execution-time'>> = {
  sandbox_memory_exceeded: 'wasm-memory',
  sandbox_timeout: 'wasm-execution-time',
};

/** The protocol requires an event for breaches of WebAssembly limits, in addition to the failure. */
async function tellBreach(
  { memoryBytes, wallClockMs }: PackExecutorOptions,
  feed: EventFeed,
  { result, durationMs }: InvocationOutcome,
): Promise<void> {
  if (result.status !== 'error' || result.origin !== 'host') return;
  const kind = BREACHES[result.error.code];
  if (kind === undefined) return;
  const [limit, observed] = kind === 'wasm-memory' ? [memoryBytes, memoryBytes] : [wallClockMs, durationMs];
  await feed.push({ type: 'cap.breached', payload: { kind, limit, observed } });
}
