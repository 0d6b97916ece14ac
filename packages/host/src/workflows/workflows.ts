/** The workflows a tenant may run: validated once, stored by content hash, compiled once per hash. */

import type { DefinitionWarning } from '@gantry/engine';
import { compareVersions } from '@gantry/packs';
import { OpenwopError, type WorkflowDefinition } from '@gantry/protocol';
import type { Store, WorkflowRecord, Write } from '@gantry/store';
import type { PackBinding } from '../packs/packs.ts';
import { keyScopes } from '../principals.ts';
import type {
  RegisteredWorkflow,
  RegistrationTerms,
  ResolvedWorkflow,
  Workflows,
} from '../runtime/runtime.ts';
import { syncNote } from '../triggers/definition-sync.ts';
import { roomForDefinitions } from '../triggers/queue-source/room.ts';
import { check, read } from './check.ts';
import { childWarnings } from './child-warnings.ts';
import { canonical, checkPlan, createPlans, remember } from './plans.ts';
import { checkActing, raised } from './registrant.ts';
import { takeTurn, turnsOf } from './registration-turns.ts';
import { removeAll } from './removal.ts';

export { SHARED } from './shared.ts';

const RESOLVED_MAX = 5_000;
/** Of many concurrent registrations, one wins each time. */
const ATTEMPTS_MAX = 100;

export interface WorkflowsWithPlans extends Workflows {
  /**
   * Called after each deletion, and each registration of a current version, even if it changed nothing: records that
   * depend on it may be missing.
   */
  onChanged(listener: WorkflowListener): void;
}

export type WorkflowListener = (tenant: string, workflow: Pick<WorkflowDefinition, 'id'>) => Promise<void>;

export function createWorkflows(options: {
  store: Pick<Store, 'commit' | 'records' | 'entries' | 'runs'>;
  packs: PackBinding;
  now: () => number;
  /** How long another process may continue to use an older version after a registration here. */
  cacheMs: number;
}): WorkflowsWithPlans {
  const { store, packs, now, cacheMs } = options;
  const plans = createPlans(store, packs);
  const scopesOf = keyScopes(store, now);
  const resolved = new Map<string, { workflow: ResolvedWorkflow; until: number }>();
  const listeners: WorkflowListener[] = [];
  /** Counts changes: a value read before a change must not be cached after it. */
  let changes = 0;

  async function resolve(tenant: string, workflowId: string): Promise<ResolvedWorkflow | null> {
    const key = `${tenant}\0${workflowId}`;
    const cached = resolved.get(key);
    if (cached && cached.until > now()) return cached.workflow;
    const seen = changes;
    const record = await store.records.workflow(tenant, workflowId);
    if (!record) return null;
    const { hash, plan, definition } = await plans.planFor(tenant, record.hash);
    const workflow = { record: { ...record, hash }, definition, plan };
    if (seen === changes) remember(resolved, RESOLVED_MAX, key, { workflow, until: now() + cacheMs });
    return workflow;
  }

  function forget(): void {
    changes++;
    resolved.clear();
  }

  async function registerAll(
    tenant: string,
    definitions: readonly unknown[],
    terms: RegistrationTerms = { replace: true },
  ): Promise<RegisteredWorkflow[]> {
    const checked = definitions.map((definition) => read(definition, now()));
    const warnings: DefinitionWarning[][] = [];
    for (const definition of checked) warnings.push(await warningsOf(options, tenant, definition, checked));
    const entries = await keepAll({ store, tenant, now, terms }, checked);
    forget();
    for (const { definition, record } of entries)
      for (const hear of record.isCurrent ? listeners : []) await hear(tenant, definition);
    return entries.map(({ definition, record }, at) => ({ ...record, definition, warnings: warnings[at]! }));
  }

  packs.onChanged(forget);

  return {
    planOf: plans.planOf,
    resolve,
    checkActing: (owner, record) => checkActing(scopesOf, owner, record),
    registerAll,
    check: (tenant, given) => check({ records: store.records, packs, now: now() }, tenant, given),
    async register(tenant, definition, terms) {
      const [record] = await registerAll(tenant, [definition], terms);
      return record!;
    },
    async remove(tenant, workflowId, mayRemoveShared) {
      const owner = await removeAll({ store, now }, { tenant, workflowId }, mayRemoveShared);
      forget();
      for (const hear of listeners) await hear(owner, { id: workflowId });
    },
    onChanged(listener) {
      listeners.push(listener);
    },
  };
}

/** Throws what makes the definition unusable. */
async function warningsOf(
  { store, packs }: { readonly store: Pick<Store, 'records'>; readonly packs: PackBinding },
  tenant: string,
  definition: WorkflowDefinition,
  together: readonly WorkflowDefinition[],
): Promise<DefinitionWarning[]> {
  const { warnings } = await checkPlan(packs, tenant, definition);
  return [...warnings, ...(await childWarnings(store.records, tenant, definition, together))];
}

interface Registration {
  readonly definition: WorkflowDefinition;
  readonly record: WorkflowRecord & Pick<RegisteredWorkflow, 'isCurrent'>;
  readonly writes: readonly Write[];
}

interface Registering {
  readonly store: Pick<Store, 'commit' | 'records' | 'entries'>;
  readonly tenant: string;
  readonly now: () => number;
  readonly terms: RegistrationTerms;
}

/** A registration that loses its turn, or its share of a limit, to another one reads the current state again. */
async function keepAll(
  registering: Registering,
  definitions: readonly WorkflowDefinition[],
): Promise<Registration[]> {
  const { store, tenant, now } = registering;
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const turns = await turnsOf(store.entries, tenant, new Set(definitions.map(({ id }) => id)));
    const entries = await Promise.all(
      definitions.map((definition) => registrationOf(registering, definition)),
    );
    const changed = entries.filter(({ writes }) => writes.length > 0);
    if (changed.length === 0) return entries;
    const asking = changed.map(({ definition }) => definition);
    const room = await roomForDefinitions(store, tenant, asking, now());
    const ids = new Set(asking.map(({ id }) => id));
    const taken = [...ids].map((id) => takeTurn({ tenant, workflowId: id }, turns.get(id), now()));
    const writes = changed.flatMap((each) => each.writes);
    const [result] = await store.commit([[...room, ...taken, ...writes]]);
    if (result?.won) return entries;
  }
  throw new OpenwopError('service_unavailable', {
    message: 'Too many concurrent registrations. Try again.',
  });
}

/** The writes of a registration. If the definition is current already, at most who registered it. */
async function registrationOf(
  { store, tenant, now, terms }: Registering,
  definition: WorkflowDefinition,
): Promise<Registration> {
  const { id, version, name } = definition;
  const { hash, body } = canonical(definition);
  const registeredBy = terms.by ? JSON.stringify(terms.by) : null;
  const record = { tenant, workflowId: id, hash, version, name, registeredAt: now(), registeredBy };
  const [current, ...older] = await store.records.workflowVersions(tenant, id);
  const own = current?.tenant === tenant ? current : undefined;
  if (own?.hash === hash) {
    const kept = raised(own, terms.by);
    const isRaised = kept.registeredBy !== own.registeredBy;
    const writes: Write[] = isRaised ? [{ kind: 'putWorkflow', record: kept }] : [];
    return { definition, record: { ...kept, isCurrent: true }, writes };
  }
  const known = [own, ...older].find((before) => before?.tenant === tenant && before.version === version);
  if (known && known.hash !== hash && !terms.replace) throw taken(known);
  const isCurrent = terms.replace || !own || !isLower(version, own.version);
  const writes: Write[] = [
    { kind: 'putDefinition', hash, body },
    { kind: 'putWorkflow', record },
  ];
  // The version that is put last is current
  if (!isCurrent) writes.push({ kind: 'putWorkflow', record: own });
  return { definition, record: { ...record, isCurrent }, writes: [...writes, syncNote(record)] };
}

const SEMVER = /^\d+\.\d+\.\d+/;

/** Versions that are not semantic versions have no order. */
const isLower = (version: string, than: string): boolean =>
  SEMVER.test(version) && SEMVER.test(than) && compareVersions(version, than) < 0;

const taken = ({ workflowId, version, hash }: WorkflowRecord): OpenwopError =>
  new OpenwopError('conflict', {
    message: `Version ${version} of ${workflowId} is registered with other content. Register the change as a new version, or replace the version with replace=true.`,
    details: { workflowId, version, hash },
  });
