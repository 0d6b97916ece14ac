/** Forks of a trial, for tests. */
import type { RunEvent } from '@gantry/protocol';
import { branchRun, type ForkedRun, replayRun } from '../index.ts';
import type { Trial } from './workflow.ts';

export const EVENTS_MAX = 10_000;
/** When branches are made. */
export const CREATED_AT = 9_000_000;

interface Source {
  /** The log, where it is not the trial's own. */
  readonly events?: readonly RunEvent[];
}

function optionsOf({ plan, run, events }: Trial, fromSeq: number, mode: 'replay' | 'branch', of: Source) {
  const fork = { sourceRunId: run.facts.runId, fromSeq, mode };
  const facts = { ...run.facts, runId: 'fork-1', createdAt: CREATED_AT, fork };
  return { plan, facts, source: { facts: run.facts, events: of.events ?? events }, eventsMax: EVENTS_MAX };
}

export const replay = (trial: Trial, fromSeq = 0, of: Source = {}): ForkedRun =>
  replayRun(optionsOf(trial, fromSeq, 'replay', of));

export const branch = (trial: Trial, fromSeq: number): ForkedRun =>
  branchRun(optionsOf(trial, fromSeq, 'branch', {}));

/** An event of the fork, told as one of its source, without what each run has of its own. */
export function told(events: readonly RunEvent[], { run }: Trial): object[] {
  return events.map(({ causationId: _cause, ...event }) =>
    JSON.parse(JSON.stringify(event).replaceAll('fork-1', run.facts.runId)),
  );
}
