/**
 * The limit of subscriptions to queues of a tenant: those of the API, and those of the triggers of its definitions.
 *
 * I1  A request for more writes the tenant's mark in the same commit, at the version at which it counted. Of two at
 *     once one loses, and counts again.
 * I2  A definition with a note counts with what it asks for, since its subscriptions may not be there yet. The commit
 *     that makes them deletes the note, so notes are read first: none is missed and none counted twice.
 * I3  What asks for less needs no mark: a count that misses it is too high, never too low.
 */
import { DEFAULT_TENANT } from '@gantry/http';
import { OpenwopError, TRIGGER_LIMITS, type WorkflowDefinition } from '@gantry/protocol';
import { putting, type RecordKind, readRecord } from '@gantry/resources';
import type { Store, Write } from '@gantry/store';
import { SHARED } from '../../workflows/shared.ts';
import { currentDefinition, notesOf, runTenantOf } from '../definition-sync.ts';
import { wantedSubscriptions } from '../definition-triggers.ts';
import { readTrigger, TRIGGER_LISTENER, type Wanted } from '../trigger.ts';

export const queueMarks: RecordKind<object> = { kind: 'trigger-queue-mark', idPrefix: 'mark' };
const MARK_ID = 'queues';
const LISTED_MAX = 1_000;

type Reads = Pick<Store, 'entries' | 'records'>;

/** Queue triggers by workflow. */
type Declared = ReadonlyMap<string, number>;

interface Count {
  /** Of subscriptions that were registered over the API. */
  readonly registered: number;
  readonly declared: Declared;
}

/** Belongs into the commit that registers one more subscription. Throws `conflict` at the limit. */
export const roomForSubscription = (store: Reads, tenant: string, now: number): Promise<Write[]> =>
  room(store, tenant, now, ({ registered, declared }) => ({ registered: registered + 1, declared }));

/** Belongs into the commit that makes these definitions current. Throws `conflict` at the limit. */
export async function roomForDefinitions(
  store: Reads,
  tenant: string,
  definitions: readonly WorkflowDefinition[],
  now: number,
): Promise<Write[]> {
  const asked = new Map<string, number>();
  for (const definition of definitions)
    if (await takesEffect(store, tenant, definition.id))
      asked.set(definition.id, queuesIn(wantedSubscriptions(definition)));
  if (sum(asked) === 0) return [];
  return room(store, runTenantOf(tenant), now, ({ registered, declared }) => ({
    registered,
    declared: new Map([...declared, ...asked]),
  }));
}

/** A shared definition has no effect where the default tenant has its own. */
async function takesEffect({ records }: Reads, tenant: string, workflowId: string): Promise<boolean> {
  return tenant !== SHARED || (await records.workflow(DEFAULT_TENANT, workflowId))?.tenant !== DEFAULT_TENANT;
}

/** I1. A request that does not raise the count is never refused. */
async function room(
  store: Reads,
  tenant: string,
  now: number,
  change: (count: Count) => Count,
): Promise<Write[]> {
  const before = await readRecord(store.entries, queueMarks, tenant, MARK_ID);
  const count = await countOf(store, tenant);
  const after = totalOf(change(count));
  const limit = TRIGGER_LIMITS.queuesPerTenantMax;
  if (after > limit && after > totalOf(count))
    throw new OpenwopError('conflict', {
      message: `A tenant can have ${limit} subscriptions to queues, and this would make it ${after}. Delete a subscription, or remove queue triggers from a workflow first.`,
      details: { limit },
    });
  return [putting(queueMarks, { tenant, id: MARK_ID }, {}, { before, now })];
}

/** I2. */
async function countOf(store: Reads, tenant: string): Promise<Count> {
  const notes = await notesOf(store.entries, tenant);
  const listeners = await store.entries.list(TRIGGER_LISTENER, tenant, { limit: LISTED_MAX });
  const read = listeners.map(({ id }) => readTrigger(store.entries, tenant, id));
  const declared = new Map<string, number>();
  let registered = 0;
  for (const trigger of await Promise.all(read)) {
    if (trigger?.record.origin.kind === 'api') registered++;
    else if (trigger) {
      const { workflowId } = trigger.record;
      declared.set(workflowId, (declared.get(workflowId) ?? 0) + 1);
    }
  }
  for (const workflowId of new Set(notes.map(({ record }) => record.workflowId))) {
    const current = await currentDefinition(store, tenant, workflowId);
    declared.set(workflowId, current ? queuesIn(wantedSubscriptions(current.definition)) : 0);
  }
  return { registered, declared };
}

const queuesIn = (wanted: ReadonlyMap<string, Wanted>): number =>
  wanted
    .values()
    .filter(({ source }) => source === 'queue')
    .toArray().length;

const sum = (counts: Declared): number => counts.values().reduce((total, count) => total + count, 0);

const totalOf = ({ registered, declared }: Count): number => registered + sum(declared);
