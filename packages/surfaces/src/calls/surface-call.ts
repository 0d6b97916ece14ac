/** The caller of a method, and the identity of a call when its node runs again. */

import type { EgressDecision } from '@gantry/egress';
import { type Json, type JsonObject, OpenwopError, type Owner } from '@gantry/protocol';
import type { Caller, NodeCaller } from '@gantry/resources';
import type { ImplementedSurface } from './define-surface.ts';
import type { AnswerKey } from './sealed-answer.ts';

export interface PackRef {
  readonly name: string;
  readonly version: string;
}

/** Constant while a node runs. Comes from the run, never from pack code. */
export interface NodeFacts {
  readonly owner: Owner;
  /** Of the owner. */
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly pack: PackRef;
  /** The peer dependencies in its manifest, by name. */
  readonly peers: readonly string[];
  /** Used where `peers` is not binding: the granted capabilities, such as `host.kvStorage`. Absent means all. */
  readonly granted?: readonly string[];
  /** The first ordinal of this visit of the node. */
  readonly ordinalBase: number;
  readonly attempt: number;
  /** As declared by the pack. A pure node may only read, and gets no answer that lets others write. */
  readonly effect: 'pure' | 'idempotent' | 'effect';
  /** Aborted when the node has to stop; its code has a short time left. */
  readonly cancelled?: AbortSignal;
  /** Commits changes of the node, for surfaces on resources. */
  readonly work?: CallerWork;
}

/** What a call can request from the run of its node. */
export interface CallerWork extends Pick<NodeCaller, 'epoch' | 'tell'> {
  readonly run?: CallingRun;
  readonly waits?: NodeWaits;
}

/** The run of a node, for calls that have a cost. */
export interface CallingRun {
  readonly rootRunId: string;
  readonly workflowId: string;
  readonly configurable: JsonObject;
  /** The remaining budget; undefined without a budget. */
  budget(): CallerBudget | undefined;
  /** The budget is used up: the node stops, even if its code catches the error. */
  exhausted(about: BudgetStop): void;
  /** The trust level of the run's input. */
  readonly trust: 'trusted' | 'untrusted';
  /** How many envelopes the run has received. */
  envelopes(): number;
  /** Serves calls of the node whose own model lacks a required feature. */
  readonly instead?: SubstituteModel | undefined;
}

/** How a node waits for something in its run: its code stops, and runs again with the answer. */
export interface NodeWaits {
  /** Undefined until there is an answer. */
  answerOf(key: string): Json | undefined;
  wait(outcome: {
    readonly suspend: {
      readonly key: string;
      readonly request: JsonObject;
      /** Continues with the next envelope of that type. `seen`: the number of envelopes when the node looked. */
      readonly awaits?: { readonly envelopeType: string; readonly seen: number };
    };
    readonly cause?: { readonly causationId?: string; readonly contentTrust?: 'untrusted' };
  }): never;
}

export interface SubstituteModel {
  readonly provider: string;
  readonly model: string;
  /** The features that the node requires of a model. */
  readonly required: readonly string[];
}

/** Cost limits are in US dollars. */
export interface CallerBudget {
  readonly limits: { readonly tokens?: number; readonly cost?: number; readonly toolCalls?: number };
  readonly advisory: boolean;
  readonly modelAllow?: readonly string[];
  readonly modelDeny?: readonly string[];
}

export interface BudgetStop {
  readonly dimension: 'tokens' | 'cost' | 'toolCalls';
  readonly limit: number;
  readonly observed: number;
  readonly short?: { readonly needed: number; readonly available: number };
  /** The reason, if the limit is not the run's own. */
  readonly message?: string;
}

/** A person's request. `request` is the record of its `Idempotency-Key`. */
export interface PersonFacts {
  readonly owner: Owner & { readonly principal: string };
  readonly request?: NonNullable<Extract<Caller, { kind: 'person' }>['request']>;
}

export type SurfaceCaller =
  | ({ readonly kind: 'node' } & Pick<
      NodeFacts,
      'runId' | 'nodeId' | 'pack' | 'effect' | 'work' | 'ordinalBase' | 'cancelled'
    >)
  | ({ readonly kind: 'person'; readonly actor: string } & Pick<PersonFacts, 'request'>);

/** A call of a node that writes or acts, with its number. */
export interface NumberedCall {
  /** A hash of tenant, run, node, series and ordinal; never of the attempt. External receivers may use it as a key. */
  readonly id: string;
  /** The key of journals: unique in a tenant, ordered by time. Measured: a commit of 16 takes 0.7 ms, by hash 1.6. */
  readonly journalKey: string;
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly ordinal: number;
  /** `kvStorage.put` */
  readonly method: string;
  /** A hash of method and input; detects another call with the same key. */
  readonly fingerprint: string;
  /** Seals the recorded answer. */
  readonly answerKey?: AnswerKey;
}

export interface ReadCall extends Pick<NodeFacts, 'owner' | 'tenant'> {
  readonly caller: SurfaceCaller;
  readonly signal: AbortSignal;
  /** The time of arrival in milliseconds. */
  readonly now: number;
}

export interface WriteCall extends ReadCall {
  readonly invocation: NumberedCall;
  /** For tools: reports the decision about a credential before it is sent. */
  readonly decided?: (decision: EgressDecision) => void;
}

/** A write to a surface on resources: by a node with an invocation, or by a person with a request. */
export interface ChangeCall extends ReadCall {
  readonly invocation?: NumberedCall;
}

export type PortRead = Pick<ReadCall, 'tenant' | 'now'>;
/** A port with its own journal writes the invocation and the answer in the transaction of the write. */
export type PortWrite = Pick<WriteCall, 'tenant' | 'now' | 'invocation'>;

export interface PureCall {
  /** The path in `ctx`. */
  readonly path: string;
  /** `host.kvStorage.put` */
  readonly capability: string;
  /** The kind of call: `write` */
  readonly what: string;
}

/** The refusal of a call from a node that is declared pure. */
export const notPure = (
  { nodeId, pack }: Pick<NodeFacts, 'nodeId' | 'pack'>,
  { path, capability, what }: PureCall,
): OpenwopError =>
  new OpenwopError('sandbox_capability_denied', {
    message:
      `Node "${nodeId}" is declared pure and may only read, but called ctx.${path}, which is a ${what}. ` +
      `The author of ${pack.name} has to declare the node as one with side effects.`,
    details: { requestedCapability: capability },
  });

/** The refusal of a call to a surface that the manifest does not name and that was not granted. */
export function notAllowed(
  { pack: { name } }: Pick<NodeFacts, 'pack'>,
  surfaces: readonly ImplementedSurface[],
  capability: string,
): OpenwopError {
  const wanted = surfaces.map(({ literal }) => `host.${literal.capability}`).join(' or ');
  const grant = surfaces.some(({ literal }) => literal.onlyNamed)
    ? ''
    : ` Or, if you trust the pack with it: gantry pack grant ${name} ${wanted}, beside what it has.`;
  return new OpenwopError('sandbox_capability_denied', {
    message: `${name} may not call ${capability}: its author has to add ${wanted} to peerDependencies.${grant}`,
    details: { requestedCapability: capability },
  });
}
