/** All writes of one decision of a run, as one commit group. */
import { childrenToCancel, type Decision, type Plan, type Run, runningChildren } from '@gantry/engine';
import type { StoredEvent } from '@gantry/protocol';
import type { RunHead, RunKey, Write } from '@gantry/store';
import { artifactWrites } from '../artifacts/artifact-record.ts';
import type { Inputs } from './clock.ts';
import { collectWrite, mailWrite } from './mail.ts';
import { reportWrites } from './opened-run.ts';
import { toSnapshot } from './run-record.ts';
import type { Outbox } from './runtime.ts';

/** A reader folds at most about this many events after a snapshot. */
const SNAPSHOT_EVERY_EVENTS = 500;

export interface RunAppend {
  readonly key: RunKey;
  readonly plan: Plan;
  readonly before: Run;
  readonly decision: Decision;
  readonly events: readonly StoredEvent[];
  readonly expectedOwner: number | null;
  readonly head: RunHead;
  readonly snapshotSeq: number;
}

/** The events, their artifacts, deliveries to subscribers, and mail to parent and children. */
export function appendWrites(append: RunAppend, host: Inputs & { readonly outbox: Outbox }): Write[] {
  const { key, plan, before, decision, events, expectedOwner, head } = append;
  const after = decision.run;
  const writes: Write[] = [
    {
      kind: 'append',
      ...key,
      expectedSeq: before.nextSeq,
      expectedOwner,
      events,
      head,
      ...(needsSnapshot(append) && { snapshot: toSnapshot(after) }),
    },
    ...artifactWrites(after.facts, decision.artifacts, host.now()),
    ...host.outbox.writes(after.facts, events),
  ];
  for (const runId of childrenToCancel(plan, before, after)) {
    const mail = { type: 'cancel', reason: 'parent-cancelled', parentRunId: key.runId } as const;
    writes.push(mailWrite(host, { tenant: key.tenant, runId }, mail));
  }
  if (before.status === 'paused' && after.status !== 'paused' && runningChildren(before).length > 0)
    writes.push(collectWrite(host, key));
  if (after.facts.parent) writes.push(...reportWrites(host, plan, after));
  return writes;
}

export const needsSnapshot = ({ decision, snapshotSeq }: RunAppend): boolean =>
  decision.run.nextSeq - snapshotSeq >= SNAPSHOT_EVERY_EVENTS;
