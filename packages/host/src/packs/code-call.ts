/** One call of a pack's code: in the sandbox, or at the address of a remote pack. */
import type { Execution, PackExecution } from '@gantry/engine';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Invocation, InvocationOutcome, NodeResult, RemotePacks, Sandbox } from '@gantry/sandbox';
import type { RunKey } from '@gantry/store';
import type { NodeWaits } from '@gantry/surfaces';
import type { InvocationLog } from '../runtime/invocation-log.ts';
import type { NodeWork } from '../runtime/outside-work.ts';
import { approval } from '../tools/approval.ts';
import type { CodeFolders } from './code-folders.ts';
import type { EventFeed } from './event-feed.ts';
import { ENDINGS, type Members, together } from './node-controls/members.ts';
import type { NodeSecrets, SecretMembers } from './node-controls/node-secrets.ts';
import { sideEffects } from './node-controls/side-effects.ts';
import type { Stop } from './node-controls/stop.ts';
import { subWorkflows } from './node-controls/sub-workflows.ts';
import type { Surfaces } from './node-controls/surfaces.ts';
import type { SandboxedCode, VersionRecord } from './pack-record.ts';
import type { Sandboxes } from './sandboxes.ts';

const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;

export interface CodeCalls {
  readonly folders: CodeFolders;
  readonly sandboxes: Sandboxes;
  readonly memoryBytes: number;
  readonly wallClockMs: number;
  readonly remotes: Pick<RemotePacks, 'invoke'>;
  /** Variables for packs that were granted `env.read`, by the name of the pack. */
  readonly environment: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly surfaces: Surfaces;
  readonly secrets: NodeSecrets;
}

/** A node to run. */
export interface Task {
  readonly key: RunKey;
  readonly execution: Execution;
  readonly pack: PackExecution;
  readonly signal: AbortSignal;
  readonly work: NodeWork;
  readonly log: InvocationLog;
}

/** Receive events while the code runs. */
export interface Listeners {
  readonly stop: Stop;
  readonly feed: EventFeed;
}

export type CodeCall = (task: Task, listeners: Listeners) => Promise<InvocationOutcome>;

/** Grants were checked before: everything that the version requires is granted. */
export async function prepareCall(
  calls: CodeCalls,
  version: VersionRecord,
  how: Pick<Unpacked, 'acts' | 'grants' | 'members'>,
): Promise<CodeCall> {
  const { code, name, version: number } = version;
  if (!code) throw new Error(`${name}@${number} has no code`);
  if (code.language === 'remote') return remoteCall(calls, version, code.entry);
  const sandbox = await calls.sandboxes.for(version.source);
  const folder = await calls.folders.folderOf(version);
  return (task, listeners) => sandboxCall(calls, task, listeners, { ...how, sandbox, folder, version, code });
}

function remoteCall(
  { remotes, wallClockMs }: CodeCalls,
  { name, version }: VersionRecord,
  entry: string,
): CodeCall {
  return ({ key, execution, signal }, { feed }) => {
    const { nodeId, attempt, inputs, config, typeId } = execution;
    return remotes.invoke({
      pack: { name, version, entry },
      tenant: key.tenant,
      typeId,
      ctx: { runId: key.runId, nodeId, attempt, inputs, config },
      limits: { wallClockMs, outputBytes: OUTPUT_BYTES_MAX },
      signal,
      emit: (event) => feed.emit(event),
    });
  };
}

interface Unpacked {
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly version: VersionRecord;
  readonly code: SandboxedCode;
  readonly acts: boolean;
  readonly grants: readonly string[];
  /** Credentials that were resolved for the node. */
  readonly members: SecretMembers;
}

async function sandboxCall(
  calls: CodeCalls,
  task: Task,
  { stop, feed }: Listeners,
  { sandbox, folder, version, code, acts, grants, members: secrets }: Unpacked,
): Promise<InvocationOutcome> {
  const { execution, pack, signal, work } = task;
  const { memoryBytes, wallClockMs, environment } = calls;
  const offered = membersOf(calls, task, { stop, feed }, { ...version, grants });
  await offered.load?.();
  const members = stop.closing(offered);
  const { memoryPagesMax, ...rest } = code;
  const wasm = memoryPagesMax === undefined ? {} : { wasm: { memoryPagesMax } };
  const outcome = await sandbox.invoke({
    code: { ...rest, ...wasm, name: version.name, version: version.version, folder },
    key: work.owner,
    grants: version.requires,
    environment: Object.hasOwn(environment, version.name) ? (environment[version.name] ?? {}) : {},
    typeId: execution.typeId,
    ctx: { ...contextOf(task), ...secrets },
    variables: pack.variables,
    answers: pack.answers,
    limits: { memoryBytes, wallClockMs, outputBytes: OUTPUT_BYTES_MAX },
    surfaces: members.table,
    repeatable: !acts,
    signal,
    call: members.call,
    emit: (event) => (stop.wanted ? undefined : feed.emit(event)),
    log: (level, message, data) => (stop.wanted ? undefined : feed.log(level, message, data)),
  });
  return { ...outcome, result: withDenial(offered, outcome.result) };
}

/** A member that is denied to the pack is absent, so its code cannot know that the host has it. */
function withDenial({ denialOf }: Members, result: NodeResult): NodeResult {
  if (result.status !== 'error' || result.error.code !== 'host_capability_missing') return result;
  const { capability, ...where } = result.error.details ?? {};
  const denial = typeof capability === 'string' ? denialOf?.(capability) : undefined;
  if (!denial) return result;
  const { code, message, details } = denial;
  return { ...result, error: { ...result.error, code, message, details: { ...where, ...details } } };
}

function contextOf({ key, execution, work }: Task): Invocation['ctx'] {
  const { nodeId, attempt, inputs, config } = execution;
  const { owner, configurable, triggerData } = work.facts;
  return {
    runId: key.runId,
    nodeId,
    attempt,
    inputs,
    config,
    configurable,
    trustBoundary: work.run.trust,
    ...(triggerData && { triggerData }),
    ...(owner.principal !== undefined && { userId: owner.principal }),
  };
}

/** A node that is declared pure gets no members for side effects and sub-workflows. */
function membersOf(
  { surfaces }: CodeCalls,
  task: Task,
  { stop, feed }: Listeners,
  { peers = [], grants }: VersionRecord & { readonly grants: readonly string[] },
): Members {
  const { key, execution, pack, signal, work, log } = task;
  const { nodeId, attempt, ordinalBase } = execution;
  const { packName: name, packVersion: version, effect } = pack;
  const offered = surfaces({
    key,
    owner: work.owner,
    nodeId,
    attempt,
    ordinalBase,
    effect,
    signal,
    log,
    work: { ...work, waits: waitsOf(pack.answers, stop) },
    recorded: () => work.recorded?.(),
    warn: (message) => feed.log('warn', message),
    pack: { name, version },
    peers,
    granted: grants,
    approve: approval(pack.answers, (suspend) => stop.want({ suspend }, stoppedByApproval())),
  });
  const acting =
    effect === 'pure'
      ? []
      : [sideEffects(log, { ...key, nodeId, ordinal: ordinalBase }), subWorkflows(pack.calls, stop)];
  return together([ENDINGS, ...acting, offered]);
}

const waitsOf = (answers: JsonObject, stop: Stop): NodeWaits => ({
  answerOf: (key) => (Object.hasOwn(answers, key) ? answers[key] : undefined),
  wait: (outcome) => {
    const error = new OpenwopError('envelope_pending');
    stop.want(outcome, error);
    throw error;
  },
});

const stoppedByApproval = (): OpenwopError =>
  new OpenwopError('approval_pending', {
    message: 'The node waits for the approval of a call; its code runs again with the answer.',
  });
