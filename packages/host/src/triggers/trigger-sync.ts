/** Keeps the subscriptions of a workflow equal to the webhook and queue triggers of its current version. */
import { listRecords } from '@gantry/resources';
import canonicalize from 'canonicalize';
import type { SecretOptions } from '../signing-secret.ts';
import {
  runTenantOf,
  SUBSCRIPTION_SYNC,
  type SyncOptions,
  syncDefinition,
  type WorkflowKey,
} from './definition-sync.ts';
import { wantedSubscriptions } from './definition-triggers.ts';
import { finderRemoval, finderWrite, newTrigger, triggers, type Wanted } from './trigger.ts';
import { newTriggerSecret } from './trigger-service.ts';

const LISTED_MAX = 1_000;
/** Definitions are not refused for their number of webhook triggers, so none of them is left out. */
const { max: _max, ...unlimited } = triggers;

/** A trigger keeps its address and secret from version to version. */
export const syncSubscriptions = (
  options: SyncOptions & SecretOptions,
  workflow: WorkflowKey,
): Promise<void> =>
  syncDefinition(options, SUBSCRIPTION_SYNC, workflow, async (change, current) => {
    const { store } = options;
    const tenant = runTenantOf(workflow.tenant);
    const asked = current ? [...wantedSubscriptions(current.definition)] : [];
    const wanted = new Map(asked.map(([triggerId, each]) => [idOf(options, tenant, triggerId, each), each]));
    const filter = { ref: workflow.workflowId, limit: LISTED_MAX };
    for (const trigger of await listRecords(store.entries, triggers, tenant, filter)) {
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
  });

/**
 * One id for each trigger, so that two processes never make two; keyed, so that nobody can guess it. A trigger that
 * turns to a queue, or from one, becomes another subscription: it is found in another way.
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

/** Without what has become of it since. */
function askedFor(wanted: Wanted): string | undefined {
  const { dedupEnabled, retryPolicy, verification, inputMapping } = wanted;
  const ofSource = wanted.source === 'queue' ? [wanted.topic, wanted.consumerGroup] : [wanted.scheme];
  return canonicalize({ dedupEnabled, retryPolicy, verification, inputMapping, ofSource });
}
