/**
 * Keeps the subscriptions of a workflow equal to the webhook and queue triggers of its current version.
 *
 * I1  Every registration leaves a note in its own commit, due at once. Who works on it compares what is stored with
 *     the stored definition and removes the note in the commit of the outcome: a crash in between only means that
 *     it is worked on later, two at once that one of them loses and looks again.
 * I2  Shared definitions serve one tenant, the default one, unless that has its own of the same id.
 */
import { DEFAULT_TENANT } from '@gantry/http';
import { DEFAULT_SCHEME, newId, type WorkflowDefinition } from '@gantry/protocol';
import type { Entry, Store, Write } from '@gantry/store';
import canonicalize from 'canonicalize';
import { SHARED } from '../workflows/workflows.ts';
import { wantedSubscriptions } from './definition-triggers.ts';
import { type Mint, mintSubscription } from './mint.ts';
import {
  creationWrites,
  removalWrites,
  type Subscription,
  subscriptionWrite,
  TRIGGER,
  toSubscription,
  type Wanted,
} from './subscription.ts';

export const SUBSCRIPTION_SYNC = 'trigger-subscription-sync';
const LISTED_MAX = 1_000;
const ATTEMPTS_MAX = 5;

interface WorkflowKey {
  readonly tenant: string;
  readonly workflowId: string;
}

export interface SyncOptions extends Mint {
  readonly store: Pick<Store, 'commit' | 'entries' | 'records'>;
}

/** The note that belongs into the commit of a registration. */
export const subscriptionSyncNote = (
  { tenant, workflowId }: WorkflowKey,
  now: number,
  randomBytes: (count: number) => Uint8Array,
): Write => ({
  kind: 'putEntry',
  entry: {
    kind: SUBSCRIPTION_SYNC,
    tenant,
    ref: workflowId,
    id: newId('sync', now, randomBytes),
    dueAt: now,
    expiresAt: null,
    createdAt: now,
    body: '{}',
  },
  expectedVersion: null,
});

export async function syncSubscriptions(options: SyncOptions, workflow: WorkflowKey): Promise<void> {
  const { store, masterKey } = options;
  const { tenant, workflowId } = workflow;
  const runTenant = tenant === SHARED ? DEFAULT_TENANT : tenant;
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const notes = await notesOf(store, [tenant, runTenant], workflowId);
    const wanted = await wantedBy(store, runTenant, workflowId);
    const listed = await store.entries.list(TRIGGER, runTenant, { ref: workflowId, limit: LISTED_MAX });
    const present = listed.map(toSubscription).filter(({ origin }) => origin.kind === 'trigger');
    if (wanted.size > 0) await masterKey.claim();
    const writes = [...changes(options, runTenant, wanted, present), ...notes.map(deletion)];
    if (writes.length === 0) return;
    const [result] = await store.commit([writes]);
    if (result?.won) return;
  }
  throw new Error(`the triggers of ${workflowId} kept changing; they are compared again later`);
}

async function notesOf(
  { entries }: SyncOptions['store'],
  tenants: readonly string[],
  workflowId: string,
): Promise<Entry[]> {
  const filter = { ref: workflowId, limit: LISTED_MAX };
  const lists = [...new Set(tenants)].map((tenant) => entries.list(SUBSCRIPTION_SYNC, tenant, filter));
  return (await Promise.all(lists)).flat();
}

/** I2. What the stored definition asks for. */
export async function wantedBy(
  { records }: Pick<Store, 'records'>,
  tenant: string,
  workflowId: string,
): Promise<Map<string, Wanted>> {
  const current = await records.workflow(tenant, workflowId);
  if (!current || (current.tenant === SHARED && tenant !== DEFAULT_TENANT)) return new Map();
  const body = await records.definition(current.hash);
  if (body === null) throw new Error(`definition ${current.hash} is missing from the store`);
  const definition: WorkflowDefinition = JSON.parse(body);
  return wantedSubscriptions(definition);
}

/** A trigger keeps its address and secret from version to version. */
function changes(
  mint: Mint,
  tenant: string,
  wanted: ReadonlyMap<string, Wanted>,
  present: readonly Subscription[],
): Write[] {
  const unwanted = present.filter((each) => !sameSource(each, wanted.get(triggerOf(each))));
  const writes = unwanted.flatMap(removalWrites);
  for (const [triggerId, asked] of wanted) {
    const before = present.find((each) => triggerOf(each) === triggerId && sameSource(each, asked));
    if (!before) writes.push(...creation(mint, tenant, triggerId, asked));
    else if (askedFor(before) !== askedFor(asked)) writes.push(subscriptionWrite({ ...before, ...asked }));
  }
  return writes;
}

const triggerOf = ({ origin }: Subscription): string => (origin.kind === 'trigger' ? origin.triggerId : '');

/** A trigger that turns to another source becomes another subscription: it is found in another way. */
const sameSource = ({ source }: Wanted, asked: Wanted | undefined): boolean => source === asked?.source;

/** One id for each trigger, so that two processes never make two; keyed, so that nobody can guess it. */
function creation(mint: Mint, tenant: string, triggerId: string, wanted: Wanted): Write[] {
  const kind = wanted.source === 'queue' ? '\0queue' : '';
  const name = `${tenant}\0${wanted.workflowId}\0${triggerId}${kind}`;
  const subscriptionId = `sub_${mint.masterKey.hmac('trigger-id')(name).toString('hex').slice(0, 32)}`;
  return creationWrites(mintSubscription(mint, { tenant, subscriptionId }, wanted).subscription);
}

function askedFor(wanted: Wanted): string | undefined {
  const { dedupEnabled, retryPolicy, verification, inputMapping } = wanted;
  const ofSource =
    wanted.source === 'queue' ? [wanted.topic, wanted.consumerGroup] : [wanted.scheme ?? DEFAULT_SCHEME];
  return canonicalize({ dedupEnabled, retryPolicy, verification, inputMapping, ofSource });
}

const deletion = ({ kind, tenant, id, version }: Entry): Write => ({
  kind: 'deleteEntry',
  key: { kind, tenant, id },
  expectedVersion: version,
});
