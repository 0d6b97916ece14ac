/** Dead letters as a resource: runs that failed permanently, and events and ticks that started no run. */
import type { RunFacts } from '@gantry/engine';
import { type DeadLetter, deadLettersWire, isoTime, newId, type StoredEvent } from '@gantry/protocol';
import { creation, listRecords, ResourceService, resource } from '@gantry/resources';
import type { Store, Write } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { createForks } from '../runtime/fork.ts';
import { type RetryServices, retry } from './retry.ts';

type Letter<T> = T extends DeadLetter ? Omit<T, 'deadLetterId' | 'createdAt' | 'expiresAt'> : never;
export type DeadLetterRecord = Letter<DeadLetter> & { readonly until: number };

/** How long runs and deliveries of dead letters are kept: the same as ended runs. */
export interface Retention {
  readonly retentionMs: number;
}

/** One year. Letters that are not acknowledged are deleted then. */
const UNSEEN_KEPT_MS = 365 * 86_400_000;

export const deadLetters = resource<
  typeof deadLettersWire,
  DeadLetterRecord,
  DeadLetterRecord,
  RetryServices
>(deadLettersWire, {
  kind: 'dead-letter',
  idPrefix: 'dl',
  ref: refOf,
  // A failed run is listed until a user acknowledges it, even after retention deleted the run
  expiresAt: ({ type, until }) => (type === 'run' ? until + UNSEEN_KEPT_MS : until),
  create: (_, letter) => letter,
  verbs: {},
  acts: { retry: (letter, _, change, services) => retry(letter, change, services) },
  show: ({ id, createdAt, record: { until, ...letter } }) => ({
    ...letter,
    deadLetterId: id,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(until),
  }),
});

function refOf(letter: DeadLetterRecord): string {
  switch (letter.type) {
    case 'run':
      return letter.runId;
    case 'delivery':
      return letter.deliveryId;
    case 'schedule':
      return letter.scheduleId;
  }
}

const OF_RUN_MAX = 500;

export interface DeadLettersOptions extends Pick<Parts, 'changes' | 'redactions' | 'now' | 'randomBytes'> {
  readonly store: Pick<Store, 'entries' | 'runs'>;
  readonly runtime: RetryServices['runtime'];
}

export function createDeadLetters(options: DeadLettersOptions) {
  const { changes, runtime, now } = options;
  const { entries, runs } = options.store;
  const services = { runs, runtime, prepareFork: createForks({ ...options, runs }).prepare };
  return {
    service: new ResourceService(deadLetters, { changes, entries, now, services }),
    /** Deletes the letters of a run that a user deletes. */
    async forgetRun(tenant: string, ref: string): Promise<void> {
      const letters = await listRecords(entries, deadLetters, tenant, { ref, limit: OF_RUN_MAX });
      for (const letter of letters) await changes.settle('deletion', letter, null);
    },
  };
}

/**
 * A run whose node used all its retries is listed in the commit of that event. A replay creates no letter,
 * and neither do the copied events of a fork: their letter was created when they happened.
 */
export function deadLetterWrites(
  { now, randomBytes, retentionMs }: Retention & Pick<Parts, 'now' | 'randomBytes'>,
  { fork, owner: { tenant }, workflowId }: RunFacts,
  events: readonly StoredEvent[],
): Write[] {
  if (fork?.mode === 'replay') return [];
  return events
    .filter(({ type, sequence }) => type === 'run.dead_lettered' && sequence >= (fork?.fromSeq ?? 0))
    .map(({ payload }) => {
      const { runId, nodeId = '', reason, attempts } = JSON.parse(payload);
      const at = now();
      const id = newId(deadLetters.idPrefix, at, randomBytes);
      const about = { workflowId, runId, nodeId, reason, attempts };
      return creation(deadLetters, { tenant, id }, { type: 'run', ...about, until: at + retentionMs }, at);
    });
}
