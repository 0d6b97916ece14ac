/** Decides when a parallel dispatch is complete, and with which outcome. */
import type { Child } from './child.ts';

export const JOIN_MODES = ['wait-all', 'quorum', 'first', 'race'] as const;
export const FAILURE_MODES = ['collect', 'fail-fast', 'absorb'] as const;

export interface JoinPolicy {
  readonly mode: (typeof JOIN_MODES)[number];
  /** The number of children that must complete; only with mode `quorum`. */
  readonly quorum: number;
  readonly onChildFailure: (typeof FAILURE_MODES)[number];
}

export type JoinOutcome = 'satisfied' | 'partial' | 'failed';

export interface Tally {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Not ended yet: running, to be started, or queued. */
  readonly open: number;
}

export function tallyOf(children: readonly Pick<Child, 'status'>[]): Tally {
  const count = (status: Child['status']) => children.filter((child) => child.status === status).length;
  const completed = count('completed');
  const failed = count('failed');
  const cancelled = count('cancelled');
  return { completed, failed, cancelled, open: children.length - completed - failed - cancelled };
}

/** Undefined while the join waits. Evaluated after each end, so the order of ends matters. */
export function judgeJoin(policy: JoinPolicy, tally: Tally): JoinOutcome | undefined {
  const { completed, open } = tally;
  const lost = tally.failed + tally.cancelled;
  if (policy.onChildFailure === 'fail-fast' && lost > 0) return 'failed';
  const met = lost > 0 ? 'partial' : 'satisfied';
  switch (policy.mode) {
    case 'wait-all':
      return open === 0 ? met : undefined;
    case 'race':
      return completed + lost > 0 ? met : undefined;
    case 'first':
      return reach(1, completed, open, met);
    case 'quorum':
      return reach(policy.quorum, completed, open, met);
  }
}

function reach(goal: number, completed: number, open: number, met: JoinOutcome): JoinOutcome | undefined {
  if (completed >= goal) return met;
  return completed + open < goal ? 'failed' : undefined;
}

/** How many more children may start now. */
export const roomFor = (children: readonly Pick<Child, 'status'>[], concurrency: number): number =>
  concurrency - children.filter(({ status }) => status === 'wanted' || status === 'running').length;
