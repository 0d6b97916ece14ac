/** A run whose node used up its retries is listed, in the commit of the event that says so. */
import type { RunFacts } from '@gantry/engine';
import type { EventPayloads, StoredEvent } from '@gantry/protocol';
import type { Write } from '@gantry/store';
import { type DeadLetterOffice, deadLetterWrite } from './dead-letter.ts';

/** A replay tells nobody, nor does the past of a fork: what they hold was told when it happened. */
export function deadLetterWrites(
  office: DeadLetterOffice,
  facts: RunFacts,
  events: readonly StoredEvent[],
): Write[] {
  const { fork, owner, workflowId } = facts;
  if (fork?.mode === 'replay') return [];
  return events
    .filter(({ type, sequence }) => type === 'run.dead_lettered' && sequence >= (fork?.fromSeq ?? 0))
    .map(({ payload }) => {
      const told: EventPayloads['run.dead_lettered'] = JSON.parse(payload);
      const { runId, nodeId = '', reason, attempts } = told;
      return deadLetterWrite(office, owner.tenant, {
        type: 'run',
        workflowId,
        runId,
        nodeId,
        reason,
        attempts,
      });
    });
}
