/** In-process nodes have no outside effects, so several of them run in memory and commit together. */
import {
  type Command,
  childRequests,
  type Decision,
  decide,
  executions,
  isReady,
  type Plan,
  type Run,
  statusOf,
  wakeAt,
} from '@gantry/engine';
import { isTerminal, type RunEvent } from '@gantry/protocol';
import type { RunHead } from '@gantry/store';
import type { Clock } from './clock.ts';

/** Approximate limits of one commit, so that commands and other runs get their turn. */
const COMMIT_EVENTS_MAX = 200;
const COMMIT_MS_MAX = 5;
/** Events of one decision; the clock is read between decisions. */
export const ADVANCE_EVENTS_MAX = 32;

/** A command that does not apply advances nothing. */
export function decideAndAdvance(clock: Clock, plan: Plan, run: Run, command: Command): Decision {
  const decision = decide(plan, run, command);
  return decision.events.length === 0 ? decision : advanceReady(clock, plan, decision, command.now);
}

/** Advances in memory until nothing is ready or the commit is large enough. */
export function advanceReady(clock: Clock, plan: Plan, decided: Decision, now: number): Decision {
  if (!isReady(plan, decided.run)) return decided;
  const until = clock.elapsedMs() + COMMIT_MS_MAX;
  const events: RunEvent[] = [...decided.events];
  const artifacts = [...(decided.artifacts ?? [])];
  let { run } = decided;
  do {
    const next = decide(plan, run, { type: 'advance', now, maxEvents: ADVANCE_EVENTS_MAX });
    run = next.run;
    for (const event of next.events) events.push(event);
    if (next.artifacts) artifacts.push(...next.artifacts);
  } while (events.length < COMMIT_EVENTS_MAX && isReady(plan, run) && clock.elapsedMs() < until);
  return { ...decided, events, run, ...(artifacts.length > 0 && { artifacts }) };
}

/** The head of the run row once `run` is committed. A run with nothing to do in memory has no owner. */
export function headOf(plan: Plan, run: Run, epoch: number, isBusy: boolean): RunHead {
  const ended = isTerminal(run.status);
  const rests = ended || !(isBusy || isReady(plan, run) || isOutside(plan, run));
  return {
    status: statusOf(plan, run),
    owner: rests ? null : epoch,
    wakeAt: ended ? null : (wakeAt(plan, run) ?? null),
    endedAt: ended ? (run.endedAt ?? null) : null,
  };
}

/** Whether the run has work that is done outside the engine. */
export const isOutside = (plan: Plan, run: Run): boolean =>
  executions(plan, run).length > 0 || childRequests(plan, run).length > 0;

/** Paused, but running work may finish; its result stays in the invocation log until the resume. */
export const isDraining = (run: Run): boolean =>
  run.status === 'paused' && run.drainPolicy === 'drain-current-node';
