import type { StoredEvent } from '@gantry/protocol';
import { holder } from '../../blob.ts';
import type { RunHead, RunSnapshotRecord, Write } from '../../port.ts';
import type { BlobChanges } from '../blobs.ts';
import { Raced, rowsJson, type Tx } from '../sql.ts';

type Create = Extract<Write, { kind: 'createRun' }>;
type Append = Extract<Write, { kind: 'append' }>;

export async function writeRuns(tx: Tx, won: readonly Write[], blobs: BlobChanges): Promise<void> {
  const creates = won.filter((write): write is Create => write.kind === 'createRun');
  const appends = won.filter((write): write is Append => write.kind === 'append');
  await insertRuns(tx, creates, blobs);
  await updateHeads(tx, appends);
  await insertEvents(tx, [...creates.flatMap(eventsOf), ...appends.flatMap(eventsOf)], blobs);
  await replaceSnapshots(tx, appends, blobs);
}

async function insertRuns(tx: Tx, creates: readonly Create[], blobs: BlobChanges): Promise<void> {
  if (creates.length === 0) return;
  const rows = creates.map(({ facts, head, events }) => ({
    ...facts,
    ...head,
    request: blobs.put(holder.run(facts.runId), facts.request),
    nextSeq: events.length,
  }));
  const inserted = await tx`
    insert into runs (
      run_id, tenant, workspace, principal, workflow_id, workflow_hash, scope_id, created_at, request,
      status, owner, wake_at, ended_at, next_seq
    )
    select "runId", tenant, workspace, principal, "workflowId", "workflowHash", "scopeId", "createdAt", request,
      status, owner, "wakeAt", "endedAt", "nextSeq"
    from json_to_recordset(${rowsJson(rows)}::text::json) as r (
      "runId" text, tenant text, workspace text, principal text, "workflowId" text, "workflowHash" text,
      "scopeId" text, "createdAt" bigint, request text,
      status text, owner bigint, "wakeAt" bigint, "endedAt" bigint, "nextSeq" integer
    )
    order by "runId"
    on conflict do nothing
  `;
  if (inserted.count !== rows.length) throw new Raced();
}

/** Of several appends to one run the last one says how it stands. */
async function updateHeads(tx: Tx, appends: readonly Append[]): Promise<void> {
  if (appends.length === 0) return;
  const heads = new Map<string, RunHead & { runId: string; nextSeq: number }>();
  for (const { runId, head, expectedSeq, events } of appends) {
    heads.set(runId, { runId, ...head, nextSeq: expectedSeq + events.length });
  }
  await tx`
    update runs
    set status = r.status, owner = r.owner, wake_at = r."wakeAt", ended_at = r."endedAt", next_seq = r."nextSeq"
    from json_to_recordset(${rowsJson([...heads.values()])}::text::json) as r (
      "runId" text, status text, owner bigint, "wakeAt" bigint, "endedAt" bigint, "nextSeq" integer
    )
    where runs.run_id = r."runId"
  `;
}

interface RunEvent extends StoredEvent {
  readonly runId: string;
}

function eventsOf(write: Create | Append): RunEvent[] {
  const runId = write.kind === 'createRun' ? write.facts.runId : write.runId;
  return write.events.map((event) => ({ ...event, runId }));
}

async function insertEvents(tx: Tx, events: readonly RunEvent[], blobs: BlobChanges): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => {
    const put = (text: string): string => blobs.put(holder.run(event.runId), text);
    return {
      ...event,
      payload: put(event.payload),
      sealed: event.sealed === null ? null : put(event.sealed),
    };
  });
  await tx`
    insert into events (run_id, sequence, type, at, node_id, causation_id, payload, sealed)
    select "runId", sequence, type, at, "nodeId", "causationId", payload, sealed
    from json_to_recordset(${rowsJson(rows)}::text::json) as r (
      "runId" text, sequence integer, type text, at bigint, "nodeId" text, "causationId" text,
      payload text, sealed text
    )
  `;
}

async function replaceSnapshots(tx: Tx, appends: readonly Append[], blobs: BlobChanges): Promise<void> {
  const latest = new Map<string, RunSnapshotRecord>();
  for (const { runId, snapshot } of appends) if (snapshot) latest.set(runId, snapshot);
  if (latest.size === 0) return;
  const rows = [...latest].map(([runId, { nextSeq, state }]) => {
    blobs.drop(holder.snapshot(runId));
    return { runId, nextSeq, state: blobs.put(holder.snapshot(runId), state) };
  });
  await tx`
    insert into snapshots (run_id, next_seq, state)
    select "runId", "nextSeq", state
    from json_to_recordset(${rowsJson(rows)}::text::json) as r ("runId" text, "nextSeq" integer, state text)
    on conflict (run_id) do update set next_seq = excluded.next_seq, state = excluded.state
  `;
}
