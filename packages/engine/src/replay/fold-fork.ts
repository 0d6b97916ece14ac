import type { Draft } from '../apply.ts';
import { loosenChildren } from '../children/fold-children.ts';

/**
 * The last event that a fork shares with its source was folded. From here on a branch lives in its own time:
 * what passed between that event and the fork counts against none of its limits. A replay lives in the time
 * of its source.
 */
export function foldForkPoint(run: Draft, at: number): void {
  loosenChildren(run);
  if (run.facts.fork?.mode !== 'branch') return;
  const gapMs = Math.max(0, run.facts.createdAt - at);
  shiftQuestions(run, gapMs);
  // A paused run takes account of the gap when it is resumed.
  if (run.pausedAt !== undefined) return;
  run.pausedMs += gapMs;
  if (run.waitingSince !== undefined) run.waitingSince += gapMs;
  for (const [nodeId, state] of run.nodes) {
    if (state.status === 'running' && state.timeoutAt !== undefined)
      run.nodes = run.nodes.with(nodeId, { ...state, timeoutAt: state.timeoutAt + gapMs });
  }
}

function shiftQuestions(run: Draft, gapMs: number): void {
  for (const [nodeId, interrupt] of run.interrupts) {
    if (interrupt.expiresAt === undefined) continue;
    const shifted = { ...interrupt, expiresAt: interrupt.expiresAt + gapMs };
    run.interrupts = run.interrupts.with(nodeId, shifted);
  }
}
