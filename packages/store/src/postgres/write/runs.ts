import type { StoredEvent } from '@gantry/protocol';
import { holder } from '../../blob.ts';
import { EVENTS, RUNS, SNAPSHOTS } from '../../columns.ts';
import type { RunHead, RunSnapshotRecord, Write } from '../../port.ts';
import type { BlobChanges } from '../blobs.ts';
import { insert, insertNew, rowsAs, type Tx } from '../sql.ts';

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
  const rows = creates.map(({ facts, head, events }) => ({
    ...facts,
    ...head,
    request: blobs.put(holder.run(facts.runId), facts.request),
    nextSeq: events.length,
  }));
  await insertNew(tx, RUNS, rows, '"runId"');
}

const HEAD = '"runId" text, status text, owner bigint, "wakeAt" bigint, "endedAt" bigint, "nextSeq" integer';

/** The last of several appends to one run sets its head. */
async function updateHeads(tx: Tx, appends: readonly Append[]): Promise<void> {
  if (appends.length === 0) return;
  const heads = new Map<string, RunHead & { runId: string; nextSeq: number }>();
  for (const { runId, head, expectedSeq, events } of appends) {
    heads.set(runId, { runId, ...head, nextSeq: expectedSeq + events.length });
  }
  await tx`
    update runs
    set status = r.status, owner = r.owner, wake_at = r."wakeAt", ended_at = r."endedAt", next_seq = r."nextSeq"
    from ${rowsAs(tx, 'r', [...heads.values()], HEAD)}
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
  const rows = events.map((event) => {
    const put = (text: string): string => blobs.put(holder.run(event.runId), text);
    return {
      ...event,
      payload: put(event.payload),
      sealed: event.sealed === null ? null : put(event.sealed),
    };
  });
  await insert(tx, EVENTS, rows);
}

async function replaceSnapshots(tx: Tx, appends: readonly Append[], blobs: BlobChanges): Promise<void> {
  const latest = new Map<string, RunSnapshotRecord>();
  for (const { runId, snapshot } of appends) if (snapshot) latest.set(runId, snapshot);
  const rows = [...latest].map(([runId, { nextSeq, state }]) => {
    blobs.drop(holder.snapshot(runId));
    return { runId, nextSeq, state: blobs.put(holder.snapshot(runId), state) };
  });
  const replace = 'on conflict (run_id) do update set next_seq = excluded.next_seq, state = excluded.state';
  await insert(tx, SNAPSHOTS, rows, replace);
}
