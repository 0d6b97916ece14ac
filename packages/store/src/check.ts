/** Checks of a batch before it is sent to an adapter. They are the same for every adapter. */
import assert from 'node:assert/strict';
import type { StoredEvent } from '@gantry/protocol';
import { StoreError } from './error.ts';
import type { CommitGroup, EntryKey, RunHead, Write } from './port.ts';

/** PostgreSQL has no NUL in text; half a surrogate pair has no UTF-8, so two such keys would become one. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Whether a row can have these texts. A text that cannot be stored is never found. */
export const areStorable = (...texts: readonly (string | undefined)[]): boolean =>
  texts.every((text) => text === undefined || isStorable(text));

/**
 * Throws before anything is written: texts must be storable, amounts and times safe integers, and events dense from
 * the expected sequence.
 */
export function checkGroups(groups: readonly CommitGroup[]): void {
  for (const group of groups) for (const write of group) checkWrite(write);
}

function checkWrite(write: Write): void {
  switch (write.kind) {
    case 'createRun':
      checkValues(write.facts);
      checkAppend(write.events, 0, write.head);
      break;
    case 'append':
      checkValues(write);
      checkAppend(write.events, write.expectedSeq, write.head);
      if (write.snapshot) assert.ok(write.snapshot.nextSeq <= write.expectedSeq + write.events.length);
      break;
    case 'settleInvocation':
    case 'tellInvocation':
    case 'putDefinition':
    case 'putContent':
    case 'deleteContent':
    case 'deleteWorkflow':
      checkValues(write);
      break;
    case 'putEntry':
      checkValues(write.entry);
      checkAmount('firstVersion', write.firstVersion ?? 0);
      checkKey(write.entry);
      assert.ok(write.entry.id !== '', 'pages begin after the empty id');
      for (const { name, value } of write.entry.index ?? []) checkShort([name, value], VALUE_BYTES_MAX);
      break;
    case 'deleteEntry':
    case 'expectEntry':
      checkKey(write.key);
      break;
    case 'adjust':
      checkKey(write.key);
      checkAmount('delta', write.delta);
      checkAmount('floor', write.floor ?? 0);
      checkAmount('expiresAt', write.expiresAt ?? 0);
      break;
    case 'expectLease':
      break;
    default:
      checkValues(write.record);
  }
}

function checkAppend(events: readonly StoredEvent[], firstSeq: number, head: RunHead): void {
  checkValues(head);
  for (let i = 0; i < events.length; i++) {
    const event = events[i] as StoredEvent;
    assert.ok(event.sequence === firstSeq + i, 'events of a write are dense');
    checkText(event.type);
    checkAmount('at', event.at);
    checkText(event.nodeId);
    checkText(event.causationId);
  }
}

function checkValues(record: object): void {
  for (const name in record) {
    const value = record[name as keyof typeof record];
    if (typeof value === 'string') checkText(value);
    else if (typeof value === 'number') checkAmount(name, value);
  }
}

function checkKey({ kind, tenant, id }: EntryKey): void {
  checkShort([kind, tenant, id], ID_BYTES_MAX);
}

/** A row of an index in PostgreSQL has at most 2,704 bytes. The id of a pack version has up to 385. */
const ID_BYTES_MAX = 512;
const VALUE_BYTES_MAX = 256;

function checkShort(texts: readonly string[], bytesMax: number): void {
  for (const text of texts) {
    checkText(text);
    if (Buffer.byteLength(text) <= bytesMax) continue;
    const shown = JSON.stringify(text.slice(0, 80));
    throw new StoreError('too_long', `The id or index value ${shown}... has more than ${bytesMax} bytes.`);
  }
}

/** Columns have integers, and a read cannot return one beyond the safe ones. */
function checkAmount(name: string, amount: number): void {
  if (Number.isSafeInteger(amount)) return;
  throw new StoreError('rejected', `The value ${amount} of ${name} is not an integer that can be stored.`);
}

function checkText(text: string | null): void {
  if (text === null || isStorable(text)) return;
  throw new StoreError('invalid_text', `The text ${JSON.stringify(text.slice(0, 80))} cannot be stored.`);
}
