/**
 * Makes the schedules and subscriptions of a workflow follow from the triggers of its current version.
 *
 * I1  One change compares what is stored with the current definition and deletes the notes that asked for it. After a
 *     crash the notes are still there; of two at once one is decided again.
 */
import { type Change, listRecords, systemCaller } from '@gantry/resources';
import type { Store } from '@gantry/store';
import canonicalize from 'canonicalize';
import type { Parts } from '../parts.ts';
import { DueClock } from '../runtime/due-clock.ts';
import { syncSchedules } from '../schedules/triggers.ts';
import type { SecretOptions } from '../signing-secret.ts';
import {
  type Current,
  currentDefinition,
  notesOf,
  runTenantOf,
  syncNotes,
  type WorkflowKey,
} from './definition-sync.ts';
import { wantedSubscriptions } from './definition-triggers.ts';
import { finderRemoval, finderWrite, newTrigger, triggers, type Wanted } from './trigger.ts';
import { newTriggerSecret } from './trigger-service.ts';

const LISTED_MAX = 1_000;
/** Definitions are not refused for their number of webhook triggers, so none of them is left out. */
const { max: _max, ...unlimited } = triggers;

const RETRY_MS = 1_000;

export interface SyncOptions extends SecretOptions, Pick<Parts, 'changes' | 'clock' | 'now' | 'log'> {
  readonly store: Pick<Store, 'entries' | 'records' | 'watch'>;
  readonly onSynced: () => void;
}

export function createTriggerSync(options: SyncOptions) {
  const { now, log, onSynced } = options;
  const sync = async (workflow: WorkflowKey): Promise<void> => {
    const leftOut = await syncTriggers(options, workflow);
    if (leftOut > 0)
      log.warn(
        { ...workflow, leftOut },
        'schedule triggers left out: the tenant has reached its limit of schedules',
      );
    onSynced();
  };
  const clock = new DueClock({
    ...options,
    kind: syncNotes,
    onDue: (_, { tenant, ref }) => sync({ tenant, workflowId: ref ?? '' }),
  });
  return {
    clock,
    /** A failure is logged and tried again: the registration stands, and its note is still there. */
    async now(workflow: WorkflowKey): Promise<void> {
      try {
        await sync(workflow);
      } catch (error) {
        log.warn(
          { err: error, ...workflow },
          'triggers of a workflow could not be synchronized; trying again',
        );
        clock.note(now() + RETRY_MS);
      }
    },
  };
}

/** Answers how many schedule triggers were left out: the tenant has no room for more schedules. */
function syncTriggers(options: SyncOptions, { tenant: owner, workflowId }: WorkflowKey) {
  const { store, changes } = options;
  const tenant = runTenantOf(owner);
  return changes.run(systemCaller(syncNotes.kind, { tenant }), async (change) => {
    const notes = await notesOf(store.entries, tenant, workflowId);
    const current = await currentDefinition(store, tenant, workflowId);
    const leftOut = await syncSchedules(change, store.entries, workflowId, current);
    await syncSubscriptions(change, options, workflowId, current);
    for (const note of notes) change.delete(note);
    return leftOut;
  });
}

/** A trigger keeps its address and secret from version to version. */
async function syncSubscriptions(
  change: Change,
  options: SyncOptions,
  workflowId: string,
  current: Current | null,
): Promise<void> {
  const { tenant } = change.caller;
  const asked = current ? [...wantedSubscriptions(current.definition)] : [];
  const wanted = new Map(asked.map(([triggerId, each]) => [idOf(options, tenant, triggerId, each), each]));
  const filter = { ref: workflowId, limit: LISTED_MAX };
  for (const trigger of await listRecords(options.store.entries, triggers, tenant, filter)) {
    if (trigger.record.origin.kind !== 'trigger' || wanted.has(trigger.id)) continue;
    change.delete(trigger);
    change.add(finderRemoval(trigger));
  }
  for (const [id, each] of wanted) {
    const before = await change.find(triggers, id);
    if (!before) {
      const record = newTrigger(each, newTriggerSecret(options, id));
      change.add(finderWrite(change.create(unlimited, record, id)));
    } else if (askedFor(before.record) !== askedFor(each)) {
      change.replace(before, { ...before.record, ...each });
    }
  }
}

/**
 * One id for each trigger, so that two processes never create two subscriptions; keyed, so that nobody can guess it. A
 * trigger that changes from a webhook to a queue or back becomes another subscription: it is looked up differently.
 */
function idOf(
  { masterKey }: SecretOptions,
  tenant: string,
  triggerId: string,
  { workflowId, source }: Wanted,
): string {
  const name = `${tenant}\0${workflowId}\0${triggerId}${source === 'queue' ? '\0queue' : ''}`;
  return `sub_${masterKey.hmac('trigger-id')(name).toString('hex').slice(0, 32)}`;
}

/** What the definition says of a subscription, without its state. */
function askedFor(wanted: Wanted): string | undefined {
  const { dedupEnabled, retryPolicy, verification, inputMapping } = wanted;
  const ofSource = wanted.source === 'queue' ? [wanted.topic, wanted.consumerGroup] : [wanted.scheme];
  return canonicalize({ dedupEnabled, retryPolicy, verification, inputMapping, ofSource });
}
