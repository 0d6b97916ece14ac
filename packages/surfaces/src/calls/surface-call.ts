/** The caller of a method, and what identifies a call when its node runs again. */

import type { EgressDecision } from '@gantry/egress';
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Caller, NodeCaller } from '@gantry/resources';
import type { Route } from './routes.ts';
import type { AnswerKey } from './sealed-answer.ts';

export interface PackRef {
  readonly name: string;
  readonly version: string;
}

/** Constant for one node at work. Comes from the run, never from pack code. */
export interface NodeFacts {
  readonly tenant: string;
  readonly workspace: string;
  readonly principal: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly pack: PackRef;
  /** What its manifest asks of the host, by name. */
  readonly peers: readonly string[];
  /** Where `peers` holds it to nothing: what it was granted, such as `host.kvStorage`. Absent means all. */
  readonly granted?: readonly string[];
  /** Where the ordinals of this visit of the node begin. */
  readonly ordinalBase: number;
  readonly attempt: number;
  /** As the pack declares the node. A pure one may only read, and gets no answer that lets others write. */
  readonly effect: 'pure' | 'idempotent' | 'effect';
  /** Aborted when the node is to stop; its code has a moment left. */
  readonly cancelled?: AbortSignal;
  /** How changes of the node are committed, for surfaces on resources. */
  readonly work?: CallerWork;
}

/** What a call may ask of the run of its node. */
export interface CallerWork extends Pick<NodeCaller, 'epoch' | 'tell'> {
  readonly run?: CallingRun;
  readonly waits?: NodeWaits;
}

/** The run of a node, for calls that cost. */
export interface CallingRun {
  readonly rootRunId: string;
  readonly workflowId: string;
  readonly configurable: JsonObject;
  /** What it may spend now; undefined without a budget. */
  budget(): CallerBudget | undefined;
  /** Nothing is left: the node stops, whatever its code makes of it. */
  exhausted(about: BudgetStop): void;
  /** Of what the run works on. */
  readonly trust: 'trusted' | 'untrusted';
  /** How many envelopes the run has received. */
  envelopes(): number;
  /** The model that serves the calls of the node which would reach one that lacks something. */
  readonly instead?: SubstituteModel | undefined;
}

/** How a node waits for something of its run: its code stops, and runs again with the answer. */
export interface NodeWaits {
  /** Undefined while nobody has answered. */
  answerOf(key: string): Json | undefined;
  wait(outcome: {
    readonly suspend: {
      readonly key: string;
      readonly request: JsonObject;
      /** Goes on with the next envelope of that kind. `seen`: how many the run had when the node looked. */
      readonly awaits?: { readonly envelopeType: string; readonly seen: number };
    };
    readonly cause?: { readonly causationId?: string; readonly contentTrust?: 'untrusted' };
  }): never;
}

export interface SubstituteModel {
  readonly provider: string;
  readonly model: string;
  /** What the node needs of a model. */
  readonly required: readonly string[];
}

/** Limits of cost are in US dollars. */
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
  /** Why, where the limit is not the run's own. */
  readonly message?: string;
}

/** A person, by a request. `request` is the record of its `Idempotency-Key`. */
export interface PersonFacts extends Pick<NodeFacts, 'tenant' | 'workspace' | 'principal'> {
  readonly request?: NonNullable<Extract<Caller, { kind: 'person' }>['request']>;
}

export type SurfaceCaller =
  | ({ readonly kind: 'node' } & Pick<
      NodeFacts,
      'runId' | 'nodeId' | 'pack' | 'effect' | 'work' | 'ordinalBase' | 'cancelled'
    >)
  | ({ readonly kind: 'person' } & Pick<PersonFacts, 'request'>);

/** A call of a node that writes or acts, by its number. */
export interface NumberedCall {
  /** Of tenant, run, node, series and ordinal; never of the attempt. Receivers outside may use it as their key. */
  readonly id: string;
  /** The key of journals: unique in a tenant, ordered by time. Measured: a commit of 16 takes 0.7 ms, by hash 1.6. */
  readonly journalKey: string;
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly ordinal: number;
  /** `kvStorage.put` */
  readonly method: string;
  /** Of method and input: tells another call with the same key apart. */
  readonly fingerprint: string;
  /** Seals its answer on record. */
  readonly answerKey?: AnswerKey;
}

export interface ReadCall extends Pick<NodeFacts, 'tenant' | 'workspace' | 'principal'> {
  readonly caller: SurfaceCaller;
  readonly signal: AbortSignal;
  /** Milliseconds, when the call arrived. */
  readonly now: number;
}

export interface WriteCall extends ReadCall {
  readonly invocation: NumberedCall;
  /** For tools: what was decided about a credential, before it is sent. */
  readonly decided?: (decision: EgressDecision) => void;
}

/** A write to a surface on resources: a node's has an invocation, a person's a request. */
export interface ChangeCall extends ReadCall {
  readonly invocation?: NumberedCall;
}

export type PortRead = Pick<ReadCall, 'tenant' | 'now'>;
/** A port that keeps its own journal writes the invocation and the answer in the transaction of the write. */
export type PortWrite = Pick<WriteCall, 'tenant' | 'now' | 'invocation'>;

export interface PureCall {
  /** In `ctx`. */
  readonly path: string;
  /** `host.kvStorage.put` */
  readonly capability: string;
  /** What the call is: `write` */
  readonly what: string;
}

/** The refusal of a call to a node that is declared pure. */
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

/** The refusal of a call to a surface that the pack neither asked for nor was granted. */
export function notAllowed(
  { pack }: Pick<NodeFacts, 'pack'>,
  { path, surface, capability }: Route,
  declares: boolean,
): OpenwopError {
  const wanted = `host.${surface.literal.capability}`;
  const message = declares
    ? `The manifest of ${pack.name} names what it needs of the host, and ctx.${path} is not among it. Its author has to add ${wanted} to peerDependencies.`
    : `${pack.name} was not granted ctx.${path}. If you trust the pack with it: gantry pack grant ${pack.name} ${wanted}, beside what it has.`;
  return new OpenwopError('sandbox_capability_denied', {
    message,
    details: { requestedCapability: capability },
  });
}
