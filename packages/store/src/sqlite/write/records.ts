import { atRest, holder } from '../../blob.ts';
import { IDEMPOTENCY, INVOCATIONS } from '../../columns.ts';
import type { BlobWrites } from '../blobs.ts';
import { insertRow, type Queries } from '../rows.ts';
import type { Writes } from './apply.ts';

type Kinds = 'idempotency' | 'claimInvocation' | 'settleInvocation' | 'tellInvocation';

export function recordWrites({ run }: Queries, blobs: BlobWrites): Writes<Kinds> {
  const putIdempotency = run(`
    ${insertRow(IDEMPOTENCY)}
    on conflict do update
    set digest = excluded.digest, status = excluded.status, body = excluded.body, expires_at = excluded.expires_at
    where idempotency.expires_at <= ?
  `);
  const claim = run(`${insertRow(INVOCATIONS)} on conflict do nothing`);
  const settle = run(`
    update invocations set outcome = ?, events_pending = ?
    where tenant = ? and invocation_id = ? and outcome is null
  `);
  const tell = run(`
    update invocations set events_pending = 0 where tenant = ? and invocation_id = ? and events_pending
  `);
  return {
    idempotency({ record, now }) {
      const { tenant, operation, key, digest, status, body, expiresAt } = record;
      const stored = atRest(body);
      if (putIdempotency(tenant, operation, key, digest, status, stored, expiresAt, now) === 0)
        return 'exists';
      const user = holder.idempotency(tenant, operation, key);
      blobs.drop(user);
      blobs.keep(user, body, stored);
      return 'won';
    },
    claimInvocation({ record }) {
      const { tenant, invocationId, runId, nodeId, outcome, claimedAt, claimId, eventsPending } = record;
      const stored = outcome === null ? null : atRest(outcome);
      const row = [tenant, invocationId, runId, nodeId, stored, claimedAt, claimId, Number(eventsPending)];
      if (claim(...row) === 0) return 'exists';
      if (outcome !== null && stored !== null)
        blobs.keep(holder.invocation(tenant, invocationId), outcome, stored);
      return 'won';
    },
    settleInvocation({ tenant, invocationId, outcome, eventsPending = false }) {
      const stored = atRest(outcome);
      if (settle(stored, Number(eventsPending), tenant, invocationId) === 0) return 'stale';
      blobs.keep(holder.invocation(tenant, invocationId), outcome, stored);
      return 'won';
    },
    tellInvocation: ({ tenant, invocationId }) => (tell(tenant, invocationId) === 0 ? 'stale' : 'won'),
  };
}
