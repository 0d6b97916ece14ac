import type { DatabaseSync } from 'node:sqlite';
import { atRest, holder } from '../../blob.ts';
import type { BlobWrites } from '../blobs.ts';
import type { Apply } from './apply.ts';

export function prepareClaimInvocation(database: DatabaseSync, blobs: BlobWrites): Apply<'claimInvocation'> {
  const insert = database.prepare(`
    insert into invocations (tenant, invocation_id, run_id, node_id, outcome, claimed_at, claim_id, events_pending)
    values (?, ?, ?, ?, ?, ?, ?, ?)
    on conflict do nothing
  `);
  return ({ record }) => {
    const { tenant, invocationId, runId, nodeId, outcome, claimedAt, claimId, eventsPending } = record;
    const stored = outcome === null ? null : atRest(outcome);
    const row = [tenant, invocationId, runId, nodeId, stored, claimedAt, claimId, Number(eventsPending)];
    const { changes } = insert.run(...row);
    if (changes === 0) return 'exists';
    if (outcome !== null && stored !== null) {
      blobs.keep(holder.invocation(tenant, invocationId), outcome, stored);
    }
    return 'won';
  };
}

export function prepareSettleInvocation(
  database: DatabaseSync,
  blobs: BlobWrites,
): Apply<'settleInvocation'> {
  const update = database.prepare(`
    update invocations set outcome = ?, events_pending = ?
    where tenant = ? and invocation_id = ? and outcome is null
  `);
  return ({ tenant, invocationId, outcome, eventsPending = false }) => {
    const stored = atRest(outcome);
    if (update.run(stored, Number(eventsPending), tenant, invocationId).changes === 0) return 'stale';
    blobs.keep(holder.invocation(tenant, invocationId), outcome, stored);
    return 'won';
  };
}

export function prepareTellInvocation(database: DatabaseSync): Apply<'tellInvocation'> {
  const update = database.prepare(`
    update invocations set events_pending = 0 where tenant = ? and invocation_id = ? and events_pending
  `);
  return ({ tenant, invocationId }) => (update.run(tenant, invocationId).changes === 0 ? 'stale' : 'won');
}
