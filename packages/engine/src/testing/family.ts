/** A tiny shell for tests: runs children by `decide` too, and hands their ends to their parents. */
import assert from 'node:assert/strict';
import type { Json, JsonObject, RunEvent, WorkflowDefinition } from '@gantry/protocol';
import { isTerminal } from '@gantry/protocol';
import {
  type ChildReport,
  type ChildRequest,
  type ChildStart,
  childRequests,
  childrenToCancel,
  fold,
  newRun,
  type Run,
  type RunFacts,
  runningChildren,
} from '../index.ts';
import { Trial } from './workflow.ts';

export class Family {
  readonly runs = new Map<string, Trial>();
  /** Child runs that were cancelled because nobody wanted them any more. */
  readonly cancelled: string[] = [];
  readonly #workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly parent: Trial;

  constructor(
    parent: WorkflowDefinition,
    children: readonly WorkflowDefinition[],
    extras: Partial<RunFacts> = {},
  ) {
    this.#workflows = new Map(children.map((child) => [child.id, child]));
    this.parent = new Trial(parent, { runId: 'parent', workflowId: parent.id, ...extras });
    this.runs.set('parent', this.parent);
    this.#act(this.parent, () => this.parent.start().advance());
  }

  /** Starts what is wanted and reports what has ended, until nothing moves. */
  settle(): this {
    for (let turn = 0; turn < 200; turn++) if (!this.#startWanted() && !this.#reportEnds()) return this;
    return assert.fail('the family never comes to rest');
  }

  /** Starts what is wanted and leaves the children alone. */
  start(): this {
    while (this.#startWanted());
    return this;
  }

  answer(nodeId: string, resumeValue: Json): this {
    const by = { principal: 'ann', roles: [], scopes: [], authenticated: true };
    const trial = this.parent;
    this.#act(trial, () => {
      const { refusal } = trial.give({ type: 'resolve', now: trial.now, nodeId, resumeValue, by });
      assert.equal(refusal, undefined);
      trial.advance();
    });
    return this.settle();
  }

  cancel(): this {
    this.#act(this.parent, () => this.parent.give({ type: 'cancel', now: this.parent.now }));
    return this;
  }

  /** The end of a child as its parent hears of it. */
  report(childRunId: string, report: Partial<ChildReport>): this {
    const { nodeId, visit } = runningChildren(this.parent.run).find(
      (item) => item.childRunId === childRunId,
    )!;
    const full = { childRunId, status: 'completed' as const, variables: {}, sensitive: [], ...report };
    this.#act(this.parent, () => {
      this.parent.give({ type: 'childEnded', now: this.parent.now, nodeId, visit, report: full });
      this.parent.advance();
    });
    return this;
  }

  /** Runs of the parent's children by workflow, in the order of their start. */
  of(workflowId: string): Trial[] {
    return [...this.runs.values()].filter(({ run }) => run.facts.workflowId === workflowId);
  }

  #startWanted(): boolean {
    const [first] = childRequests(this.parent.plan, this.parent.run);
    if (!first) return false;
    const { nodeId, visit } = first;
    const wanted = childRequests(this.parent.plan, this.parent.run).filter((item) => item.nodeId === nodeId);
    const starts = wanted.map((request) => this.#startOf(request));
    const { now } = this.parent;
    this.#act(this.parent, () => this.parent.give({ type: 'childrenStarted', now, nodeId, visit, starts }));
    const started = new Set(runningChildren(this.parent.run).map(({ childRunId }) => childRunId));
    for (const request of wanted) this.#create(request, started);
    this.#act(this.parent, () => this.parent.advance());
    return true;
  }

  #startOf({ index, workflowId, visit, nodeId }: ChildRequest): ChildStart {
    if (this.#workflows.has(workflowId)) return { index, childRunId: `${nodeId}-${visit}-${index}` };
    return { index, error: { code: 'unknown_child_workflow', message: `There is no ${workflowId}.` } };
  }

  #create(request: ChildRequest, started: ReadonlySet<string>): void {
    const { nodeId, visit, index, workflowId, inputs, unset, harvest } = request;
    const runId = `${nodeId}-${visit}-${index}`;
    if (!started.has(runId)) return;
    const link = {
      runId: 'parent',
      nodeId,
      visit,
      workflowId: 'wf',
      cause: 'core.dispatch',
      depth: 1,
      rootRunId: 'parent',
      harvest,
      unset,
    };
    const trial = new Trial(this.#workflows.get(workflowId)!, { runId, workflowId, inputs, parent: link });
    this.runs.set(runId, trial);
    trial.start().advance();
  }

  #reportEnds(): boolean {
    for (const { childRunId } of runningChildren(this.parent.run)) {
      const { run } = this.runs.get(childRunId)!;
      if (!isTerminal(run.status)) continue;
      this.report(childRunId, reportOf(run));
      return true;
    }
    return false;
  }

  /** Every step is followed by its cancellations, and the log folds to the run that was decided. */
  #act(trial: Trial, act: () => void): void {
    const before = trial.run;
    act();
    this.cancelled.push(...childrenToCancel(trial.plan, before, trial.run));
    assert.deepEqual(foldOf(trial), trial.run);
  }
}

function reportOf(run: Run): Partial<ChildReport> {
  const variables: JsonObject = {};
  for (const name of run.facts.parent?.harvest ?? [])
    if (run.variables[name] !== undefined) variables[name] = run.variables[name];
  const status = run.status === 'completed' || run.status === 'cancelled' ? run.status : 'failed';
  return { status, variables, ...(run.error && { error: run.error }) };
}

/** The run as its log tells it, through JSON and back. */
export function foldOf({ run, events }: Trial): Run {
  const stored: RunEvent[] = JSON.parse(JSON.stringify(events));
  return fold(newRun(run.facts), stored);
}

export const chainOf = ({ events }: Trial): JsonObject[] =>
  events.filter(({ type }) => type === 'core.workflowChain.event').map(({ payload }) => payload);

export const phasesOf = (trial: Trial): Json[] => chainOf(trial).map(({ phase }) => phase!);
