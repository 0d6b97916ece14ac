/**
 * The encoding of a batch for the writer thread. Runs and events are one flat array of primitives. Measured for
 * batches of 900 events, per event here and there: cloning the array costs 0.2 and 0.3 us, cloning objects 0.5 and
 * 1.1, and one long string with offsets 0.3 and 0.2.
 */
import type { RunStatus, StoredEvent } from '@gantry/protocol';
import type { CommitGroup, CommitResult, LossReason, RunHead, RunSnapshotRecord, Write } from '../port.ts';

type Create = Extract<Write, { kind: 'createRun' }>;
type Append = Extract<Write, { kind: 'append' }>;
type Cell = string | number | null | object;
export type Batch = Cell[];

export function encodeBatch(groups: readonly CommitGroup[]): Batch {
  const cells: Batch = [];
  for (const group of groups) {
    cells.push(group.length);
    for (const write of group) encodeWrite(cells, write);
  }
  return cells;
}

function encodeWrite(cells: Batch, write: Write): void {
  cells.push(write.kind);
  if (write.kind === 'createRun') encodeCreate(cells, write);
  else if (write.kind === 'append') encodeAppend(cells, write);
  else cells.push(write);
}

function encodeCreate(cells: Batch, { facts, head, events }: Create): void {
  cells.push(facts.runId, facts.tenant, facts.workspace, facts.principal, facts.workflowId);
  cells.push(facts.workflowHash, facts.scopeId, facts.createdAt, facts.request);
  encodeHead(cells, head);
  encodeEvents(cells, events);
}

function encodeAppend(cells: Batch, write: Append): void {
  cells.push(write.tenant, write.runId, write.expectedSeq, write.expectedOwner, write.snapshot ?? null);
  encodeHead(cells, write.head);
  encodeEvents(cells, write.events);
}

function encodeHead(cells: Batch, head: RunHead): void {
  cells.push(head.status, head.owner, head.wakeAt, head.endedAt);
}

function encodeEvents(cells: Batch, events: readonly StoredEvent[]): void {
  cells.push(events.length);
  for (const event of events) {
    cells.push(event.type, event.at, event.nodeId, event.causationId, event.payload, event.sealed);
  }
}

/** Reads cells in the order they were written. */
class Cursor {
  readonly #cells: Batch;
  #at = 0;

  constructor(cells: Batch) {
    this.#cells = cells;
  }
  get done(): boolean {
    return this.#at === this.#cells.length;
  }
  next(): Cell {
    return this.#cells[this.#at++] as Cell;
  }
  text(): string {
    return this.next() as string;
  }
  textOrNull(): string | null {
    return this.next() as string | null;
  }
  number(): number {
    return this.next() as number;
  }
  numberOrNull(): number | null {
    return this.next() as number | null;
  }
}

export function decodeBatch(cells: Batch): CommitGroup[] {
  const cursor = new Cursor(cells);
  const groups: CommitGroup[] = [];
  while (!cursor.done) {
    const size = cursor.number();
    const group: Write[] = [];
    for (let i = 0; i < size; i++) group.push(decodeWrite(cursor));
    groups.push(group);
  }
  return groups;
}

function decodeWrite(cursor: Cursor): Write {
  const kind = cursor.text();
  if (kind === 'createRun') return decodeCreate(cursor);
  if (kind === 'append') return decodeAppend(cursor);
  return cursor.next() as Write;
}

// Properties are evaluated in their order, so each literal below reads like its encoder.

function decodeCreate(cursor: Cursor): Create {
  return {
    kind: 'createRun',
    facts: {
      runId: cursor.text(),
      tenant: cursor.text(),
      workspace: cursor.textOrNull(),
      principal: cursor.textOrNull(),
      workflowId: cursor.text(),
      workflowHash: cursor.text(),
      scopeId: cursor.textOrNull(),
      createdAt: cursor.number(),
      request: cursor.text(),
    },
    head: decodeHead(cursor),
    events: decodeEvents(cursor, 0),
  };
}

function decodeAppend(cursor: Cursor): Append {
  const tenant = cursor.text();
  const runId = cursor.text();
  const expectedSeq = cursor.number();
  const expectedOwner = cursor.numberOrNull();
  const snapshot = cursor.next() as RunSnapshotRecord | null;
  const head = decodeHead(cursor);
  const events = decodeEvents(cursor, expectedSeq);
  const append: Append = { kind: 'append', tenant, runId, expectedSeq, expectedOwner, events, head };
  return snapshot ? { ...append, snapshot } : append;
}

function decodeHead(cursor: Cursor): RunHead {
  return {
    status: cursor.text() as RunStatus,
    owner: cursor.numberOrNull(),
    wakeAt: cursor.numberOrNull(),
    endedAt: cursor.numberOrNull(),
  };
}

function decodeEvents(cursor: Cursor, firstSeq: number): StoredEvent[] {
  const count = cursor.number();
  const events: StoredEvent[] = [];
  for (let i = 0; i < count; i++) {
    events.push({
      sequence: firstSeq + i,
      type: cursor.text(),
      at: cursor.number(),
      nodeId: cursor.textOrNull(),
      causationId: cursor.textOrNull(),
      payload: cursor.text(),
      sealed: cursor.textOrNull(),
    });
  }
  return events;
}

const REASONS: readonly LossReason[] = ['stale', 'exists', 'full'];

/** Won: 0, or a list of counter values. Lost: the index of the losing write and the reason as one number. */
export type ResultCode = number | readonly number[];

export function encodeResult(result: CommitResult): ResultCode {
  if (result.won) return result.values ?? 0;
  return result.write * REASONS.length + REASONS.indexOf(result.reason) + 1;
}

export function decodeResult(code: ResultCode): CommitResult {
  if (typeof code !== 'number') return { won: true, values: code };
  if (code === 0) return { won: true };
  const lost = code - 1;
  return { won: false, write: Math.floor(lost / REASONS.length), reason: REASONS[lost % REASONS.length]! };
}
