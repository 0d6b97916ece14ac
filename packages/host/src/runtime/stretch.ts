/** In-process nodes change nothing outside, so a stretch of them runs in memory and commits together. */
import {
  childRequests,
  type Decision,
  decide,
  invocations,
  isReady,
  type Plan,
  type Run,
  statusOf,
  wakeAt,
} from '@gantry/engine';
import { isTerminal, type RunEvent } from '@gantry/protocol';
import type { RunHead } from '@gantry/store';

/** A stretch ends at about so many events or after so long, to let commands and other runs in. */
const EVENTS_MAX = 200;
const TIME_MS_MAX = 5;
/** Decided at a time; between bites the clock is looked at. */
export const BITE_EVENTS_MAX = 32;

/** What `decided` makes ready goes on in memory until nothing is ready or the stretch is long enough. */
export function stretch(plan: Plan, decided: Decision, now: number): Decision {
  if (!isReady(plan, decided.run)) return decided;
  const until = performance.now() + TIME_MS_MAX;
  const events: RunEvent[] = [...decided.events];
  let { run } = decided;
  do {
    const bite = decide(plan, run, { type: 'advance', now, maxEvents: BITE_EVENTS_MAX });
    run = bite.run;
    for (const event of bite.events) events.push(event);
  } while (events.length < EVENTS_MAX && isReady(plan, run) && performance.now() < until);
  return { ...decided, events, run };
}

/** What the run row says once `run` is committed. A run with nothing to do in memory has no owner. */
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

/** Whether work of the run is, or has to go, outside the engine. */
export const isOutside = (plan: Plan, run: Run): boolean =>
  invocations(plan, run).length > 0 || childRequests(plan, run).length > 0;

/** Paused, but work under way may finish; its result stays in the invocation log until the resume. */
export const isDraining = (run: Run): boolean =>
  run.status === 'paused' && run.drainPolicy === 'drain-current-node';
