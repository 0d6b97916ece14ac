/** The work of one run that is currently outside the process. It is derived from the run, never stored. */

import {
  type EmittedEvent,
  type Execution,
  type Outcome,
  type Run,
  type RunFacts,
  rootRunId,
} from '@gantry/engine';
import { type Owner, ownerOf } from '@gantry/protocol';
import type { CommitGroup, CommitResult, RunKey } from '@gantry/store';
import type { BudgetStop, CallingRun, SubstituteModel } from '@gantry/surfaces';

/** The interface of a run to its work outside the process. */
export interface NodeWork {
  readonly facts: RunFacts;
  readonly owner: Owner;
  /** Resolves when the events are in the log. False when the run is paused or no longer waits for the node. */
  emit(events: readonly EmittedEvent[]): Promise<boolean>;
  /** The lease under which this process works on the run. */
  readonly epoch: number;
  /**
   * Commits the events and `writes` as one group, in the order of the run's own commits. A write that loses affects
   * only the caller. Null, and nothing is written, when the run is paused or no longer waits for the node.
   */
  tell(events: readonly EmittedEvent[], writes: CommitGroup): Promise<CommitResult | null>;
  /** For calls that cost. */
  readonly run: WorkingRun;
  /** A call of the node was recorded: running the node again would not repeat it. */
  recorded?(): void;
}

/** The run of a working node, with the state that its calls have set. */
export interface WorkingRun extends CallingRun {
  readonly stop: BudgetStop | undefined;
  useInstead(model: SubstituteModel): void;
}

export type Executor = (
  key: RunKey,
  execution: Execution,
  signal: AbortSignal,
  work: NodeWork,
) => Promise<Outcome>;

export interface OutsideWorkOptions {
  readonly key: RunKey;
  readonly executor: (execution: Execution) => Executor;
  readonly work: (execution: Execution) => NodeWork;
  settled(execution: Execution, outcome: Outcome): void;
  /** Work ended with unlogged events: if the run continues, it is repeated, and repeated calls log them first. */
  again(): void;
  /** The work could not be recorded. */
  failed(error: unknown): void;
}

export class OutsideWork {
  readonly #options: OutsideWorkOptions;
  readonly #underWay = new Map<string, AbortController>();
  /** Work whose calls have events that the run did not accept because it was paused. */
  readonly #untold = new Set<string>();

  constructor(options: OutsideWorkOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#underWay.size;
  }

  /** Starts wanted work that is not running; stops work that is no longer wanted, unless it may finish. */
  follow(wanted: readonly Execution[], mayFinish: boolean): void {
    if (wanted.length === 0 && this.#underWay.size === 0) return;
    const ids = new Set(wanted.map(workId));
    for (const [id, controller] of this.#underWay) {
      if (ids.has(id) || mayFinish) continue;
      controller.abort();
      this.#underWay.delete(id);
    }
    for (const execution of wanted) if (!this.#underWay.has(workId(execution))) this.#start(execution);
  }

  abandon(): void {
    for (const controller of this.#underWay.values()) controller.abort();
    this.#underWay.clear();
    this.#untold.clear();
  }

  /** The run was paused when an event was to be logged: the node runs again, and its repeated calls log it first. */
  leaveUntold(execution: Execution): void {
    this.#untold.add(workId(execution));
  }

  #start(execution: Execution): void {
    const { key, executor, work, settled, again, failed } = this.#options;
    const id = workId(execution);
    const controller = new AbortController();
    this.#underWay.set(id, controller);
    executor(execution)(key, execution, controller.signal, work(execution)).then(
      (outcome) => {
        if (this.#underWay.get(id) !== controller) return;
        this.#underWay.delete(id);
        if (this.#untold.delete(id)) again();
        else settled(execution, outcome);
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        this.#underWay.delete(id);
        failed(error);
      },
    );
  }
}

const workId = ({ nodeId, visit, attempt }: Execution): string => `${nodeId}\0${visit}\0${attempt}`;

type Executors = (execution: Execution) => Executor;

export const executorFor = ({ facts }: Run, executors: Executors): Executors =>
  facts.fork?.mode === 'replay' ? () => refuseReplay : executors;

/** A replay performs no effects: it has only those that its source recorded. */
const refuseReplay: Executor = async (_key, { nodeId }) => ({
  ok: false,
  retryable: false,
  error: {
    code: 'replay_source_missing',
    message: `The replayed run has no record of what ${nodeId} did here.`,
  },
});

/** `current` is called at each use, since the run changes meanwhile. */
export const callingRun = (
  facts: RunFacts,
  current: () => Pick<Run, 'budget' | 'envelopes' | 'contentTrust'> = () => ({}),
): WorkingRun => {
  let stop: BudgetStop | undefined;
  let instead: SubstituteModel | undefined;
  return {
    rootRunId: rootRunId(facts),
    workflowId: facts.workflowId,
    configurable: facts.configurable,
    get trust() {
      return current().contentTrust ?? facts.contentTrust ?? 'trusted';
    },
    budget: () => current().budget,
    envelopes: () => current().envelopes ?? 0,
    exhausted: (about) => {
      stop ??= about;
    },
    useInstead: (model) => {
      instead = model;
    },
    get instead() {
      return instead;
    },
    get stop() {
      return stop;
    },
  };
};

/** The fields of a node's work that describe its run. */
export const runOf = (facts: RunFacts, current: () => Run): Pick<NodeWork, 'facts' | 'owner' | 'run'> => ({
  facts,
  owner: ownerOf(facts.owner),
  run: callingRun(facts, current),
});
