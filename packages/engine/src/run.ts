import type {
  BudgetPolicy,
  Json,
  JsonObject,
  OpenwopCost,
  RunError,
  RunOwner,
  RunStatus,
} from '@gantry/protocol';
import type { ArtifactState } from './artifacts/artifact.ts';
import type { RunBudget } from './budget/budget.ts';
import type { CalledRun, NodeChildren } from './children/child.ts';
import type { DrainPolicy } from './command.ts';
import type { Interrupt } from './interrupt/interrupt.ts';
import type { Orchestrator } from './orchestrator.ts';
import { Table } from './table.ts';

/** The facts that a run is created from. They never change. */
export interface RunFacts {
  readonly runId: string;
  readonly workflowId: string;
  readonly workflowHash: string;
  readonly owner: RunOwner;
  readonly createdAt: number;
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
  /** The W3C trace context of the run. */
  readonly traceparent?: string;
  /** Limits of the host at creation; the options of the run can only lower them. */
  readonly limits: RunLimits;
  readonly parent?: ParentLink;
  readonly fork?: ForkLink;
  /** Id of the tick or other external event that started the run. */
  readonly causationId?: string;
  /** The delivery that started the run. It is in the log, and is the cause of `run.started`. */
  readonly delivery?: TriggeringEvent;
  /** Data of the trigger. Visible to nodes, but never written to the log. */
  readonly triggerData?: JsonObject;
  /** Set if the run begins with content from outside, or descends from a run with such content. */
  readonly contentTrust?: 'untrusted';
  /** Of a fork or a repeat: the root of the run that it comes from. */
  readonly rootRunId?: string;
}

/** An event of a trigger subscription that started the run at this attempt. */
export interface TriggeringEvent {
  readonly subscriptionId: string;
  readonly dedupKey: string;
  readonly attempt: number;
}

export interface RunLimits {
  readonly maxNodeExecutions: number;
  readonly maxRunDurationMs: number;
  /** Turns of an orchestrator. */
  readonly maxLoopIterations: number;
  /** The maximum budget of a run, whatever it requests. */
  readonly budget?: Pick<BudgetPolicy, 'maxTokens' | 'maxCostUsd'>;
  /** Budgets are only reported, and never stop a run. */
  readonly advisoryBudget?: true;
}

/** The run and node that this run is a child of. */
export interface ParentLink {
  readonly runId: string;
  readonly nodeId: string;
  readonly visit: number;
  readonly workflowId: string;
  /** Type of the node that started it. */
  readonly cause: string;
  /** The number of ancestors of this run. */
  readonly depth: number;
  /** The root ancestor: the spending of the whole family is counted there. */
  readonly rootRunId: string;
  /** Variables of this run that its end reports to the parent. */
  readonly harvest: readonly string[];
  /** Variables that the parent mapped from an unset value: they stay unset, and get no default. */
  readonly unset: readonly string[];
  /** The end of this run also reports its outputs, because pack code of the parent called it. */
  readonly reportsOutputs?: true;
}

/**
 * The root run of the family: of a run, its children, and the forks and repeats of any of them. What they spend is
 * counted together, so that running again what has used up its budget is no way around it.
 */
export const rootRunId = (facts: Pick<RunFacts, 'runId' | 'parent' | 'rootRunId'>): string =>
  facts.parent?.rootRunId ?? facts.rootRunId ?? facts.runId;

/** The run that this one was forked from; events before `fromSeq` belong to the source. */
export interface ForkLink {
  readonly sourceRunId: string;
  readonly fromSeq: number;
  readonly mode: 'replay' | 'branch';
}

/** Which conditions of a node's outgoing edges held when it settled. Evaluated once, then part of the log. */
export type EdgeVerdicts = { readonly [edgeId: string]: boolean };

/** The data that a node keeps while it waits. */
export interface Kept {
  /** Resolved inputs, for work that leaves the process and for repeated attempts. */
  readonly inputs?: JsonObject;
  /** The answers to the interrupts of pack code, by the pack's keys. */
  readonly answers?: JsonObject;
  /** Workflows that pack code called, in the order of its calls. */
  readonly calls?: readonly CalledRun[];
}

/** One node's latest visit. A node without a state is pending. */
export type NodeState =
  | ({
      readonly status: 'running';
      readonly attempt: number;
      readonly startedAt: number;
      /** When a delay ends. */
      readonly dueAt?: number;
      /** When this attempt times out. */
      readonly timeoutAt?: number;
    } & Kept)
  /** Waits for the answer to `run.interrupts.get(nodeId)`. */
  | ({
      readonly status: 'suspended';
      readonly attempt: number;
      readonly startedAt: number;
      readonly suspendedAt: number;
    } & Kept)
  | ({
      readonly status: 'retrying';
      /** The attempt that will start. */
      readonly attempt: number;
      readonly failedAt: number;
      readonly retryAt: number;
      readonly lastError: RunError;
    } & Kept)
  | {
      readonly status: 'completed';
      readonly attempt: number;
      readonly startedAt: number;
      readonly endedAt: number;
      readonly outputs: JsonObject;
      readonly conditions?: EdgeVerdicts;
    }
  | {
      readonly status: 'failed';
      readonly attempts: number;
      readonly endedAt: number;
      readonly error: RunError;
      readonly conditions?: EdgeVerdicts;
    }
  | { readonly status: 'skipped'; readonly endedAt: number; readonly reason: string }
  | { readonly status: 'cancelled'; readonly endedAt: number; readonly reason: string };

/** Whether a node is active: it has started and has not settled. */
export const isActive = (state: NodeState | undefined): boolean =>
  state?.status === 'running' || state?.status === 'retrying' || state?.status === 'suspended';

/**
 * A run, folded from its events. It is plain data: `runOf(JSON.parse(JSON.stringify(run)))` is the same run.
 * `decide` and `apply` never change the run they are given. State per node is in tables, and successive runs
 * share the unchanged parts of them.
 */
export interface Run {
  readonly facts: RunFacts;
  /** Sequence of the next event; also the number of folded events. */
  readonly nextSeq: number;
  /** Never `waiting-*`: whether a running run waits follows from its nodes, see `statusOf`. */
  readonly status: RunStatus;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly pausedAt?: number;
  /** Only while paused: whether running work may finish. */
  readonly drainPolicy?: DrainPolicy;
  /** Time spent paused so far; it does not count against the run's time limit. */
  readonly pausedMs: number;
  /** Time during which a node was suspended; it does not count against the author's time limit. */
  readonly waitedMs: number;
  readonly waitingSince?: number;
  /** Open interrupts, by node. */
  readonly interrupts: Table<Interrupt>;
  /** The external event that last answered each node: another delivery of it is ignored. */
  readonly heard: Table<string>;
  /** For each node whose latest interrupt expired: how many interrupts it had opened by then. */
  readonly timedOut: Table<number>;
  /** The number of interrupts that each node has opened: keys of later ones continue the count. */
  readonly asked: Table<number>;
  /** Child runs of each node's latest visit. */
  readonly children: Table<NodeChildren>;
  /** By artifact id. */
  readonly artifacts: Table<ArtifactState>;
  readonly channels: { readonly [name: string]: ChannelState };
  readonly orchestrator?: Orchestrator;
  /** Versions of changes, fixed when code first requests them. */
  readonly versions: { readonly [changeId: string]: number };
  readonly nodes: Table<NodeState>;
  /** The number of times that each node was entered: loop iterations and ordinals of repeated visits. */
  readonly visits: Table<number>;
  /** The number of times that each back-edge was followed since its loop was entered. */
  readonly loopbacks: Table<number>;
  readonly nodeExecutions: number;
  /** Unmasked values; `snapshot` masks what leaves the host. */
  readonly variables: JsonObject;
  readonly outputs?: JsonObject;
  readonly error?: RunError;
  readonly failedNodeId?: string;
  /** The parent run whose cancellation ended this one. */
  readonly cascadedFrom?: string;
  /** The agent that is pinned to the last started node with a pin. */
  readonly agent?: JsonObject;
  /** Tool calls that have not returned, by id: the sequence of the event that reported their start. */
  readonly toolCalls?: { readonly [callId: string]: number };
  readonly budget?: RunBudget;
  /** The cost of the model calls in the log; the model is that of the last one. */
  readonly cost?: OpenwopCost;
  /** The number of envelopes that the run has received. */
  readonly envelopes?: number;
  /** Sequence of the last event that can make a run fail. */
  readonly causeSeq?: number;
  /** Set from the start by the facts, or by the first event with content from outside; never taken back. */
  readonly contentTrust?: 'untrusted';
}

/** A run that has no events yet. */
export const newRun = (facts: RunFacts): Run => ({
  facts,
  nextSeq: 0,
  status: 'pending',
  pausedMs: 0,
  waitedMs: 0,
  interrupts: Table.of(),
  heard: Table.of(),
  timedOut: Table.of(),
  asked: Table.of(),
  children: Table.of(),
  artifacts: Table.of(),
  channels: {},
  versions: {},
  nodes: Table.of(),
  visits: Table.of(),
  loopbacks: Table.of(),
  nodeExecutions: 0,
  variables: {},
  ...(facts.contentTrust && { contentTrust: facts.contentTrust }),
});

type Tables = { [Key in keyof Run as Run[Key] extends Table<infer _> ? Key : never]: Run[Key] };
const TABLES = [
  'interrupts',
  'heard',
  'timedOut',
  'asked',
  'children',
  'artifacts',
  'nodes',
  'visits',
  'loopbacks',
] as const;

/** A run as `JSON.stringify` writes it. */
export type RunJson = Omit<Run, keyof Tables> & {
  readonly [Key in keyof Tables]: ReturnType<Run[Key]['toJSON']>;
};

export function runOf(json: RunJson): Run {
  const tables = TABLES.map((key) => [key, Table.of<unknown>(json[key])]);
  return { ...json, ...(Object.fromEntries(tables) as Tables) };
}

/** A channel after its writes so far, unmasked. */
export interface ChannelState {
  readonly value: Json;
  /** The oldest schema version among the writes, and the sequence of its first write. */
  readonly schemaVersion: number;
  readonly schemaSeq: number;
}
