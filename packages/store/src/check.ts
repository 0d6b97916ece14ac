/** What is checked before a batch leaves the caller's hands, equally for every adapter. */
import assert from 'node:assert/strict';
import type { StoredEvent } from '@gantry/protocol';
import { StoreError } from './error.ts';
import type { CommitGroup, RunHead, Write } from './port.ts';

/** PostgreSQL has no NUL in text; half a surrogate pair has no UTF-8, so two such keys would become one. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Throws before anything is written: texts must be storable, events dense from where the write says. */
export function checkGroups(groups: readonly CommitGroup[]): void {
  for (const group of groups) for (const write of group) checkWrite(write);
}

function checkWrite(write: Write): void {
  switch (write.kind) {
    case 'createRun':
      checkTexts(write.facts);
      checkAppend(write.events, 0, write.head);
      break;
    case 'append':
      checkTexts(write);
      checkAppend(write.events, write.expectedSeq, write.head);
      if (write.snapshot) assert.ok(write.snapshot.nextSeq <= write.expectedSeq + write.events.length);
      break;
    case 'settleInvocation':
    case 'putDefinition':
      checkTexts(write);
      break;
    case 'putEntry':
      checkTexts(write.entry);
      break;
    case 'deleteEntry':
      checkTexts(write.key);
      break;
    default:
      checkTexts(write.record);
  }
}

function checkAppend(events: readonly StoredEvent[], firstSeq: number, head: RunHead): void {
  checkText(head.status);
  for (let i = 0; i < events.length; i++) {
    const event = events[i] as StoredEvent;
    assert.equal(event.sequence, firstSeq + i, 'events of a write are dense');
    checkText(event.type);
    checkText(event.nodeId);
    checkText(event.causationId);
  }
}

function checkTexts(record: object): void {
  for (const value of Object.values(record)) if (typeof value === 'string') checkText(value);
}

function checkText(text: string | null): void {
  if (text === null || isStorable(text)) return;
  throw new StoreError('invalid_text', `The text ${JSON.stringify(text.slice(0, 80))} cannot be stored.`);
}
