/** The workflows a tenant may run: validated once, kept by content hash, compiled once per hash. */
import { hash } from 'node:crypto';
import { compile, DefinitionError, type Plan } from '@gantry/engine';
import { type JsonObject, OpenwopError, WorkflowDefinition } from '@gantry/protocol';
import type { Store, WorkflowRecord, Write } from '@gantry/store';
import canonicalize from 'canonicalize';
import { Compile } from 'typebox/compile';
import { randomBytes } from '../random-bytes.ts';
import type { ResolvedWorkflow, Workflows } from '../runtime/runtime.ts';
import { triggerSyncNote } from '../schedules/trigger-note.ts';
import { scheduleTriggerIssues } from '../schedules/triggers.ts';
import { triggerIssues } from '../triggers/definition-triggers.ts';
import { subscriptionSyncNote } from '../triggers/trigger-sync.ts';
import { configurableSchemaIssues } from './configurable.ts';
import { compileUserSchema } from './user-schema.ts';

/** Tenant of the definitions that every tenant sees. */
export const SHARED = '*';

const PLANS_MAX = 1_000;
const RESOLVED_MAX = 5_000;
const ISSUES_MAX = 50;

const sha256 = (text: string): string => hash('sha256', text, 'hex');
const shape = Compile(WorkflowDefinition);
const COMPILE = { sha256, compileSchema: compileUserSchema };

interface Issue extends JsonObject {
  path: string;
  message: string;
}

export interface WorkflowsWithPlans extends Workflows {
  /** The plan of a definition that some run is pinned to. */
  planOf(workflowHash: string): Promise<Plan>;
  /** Called after each registration, also of one that changed nothing: what follows from it may be missing. */
  onRegistered(listener: RegistrationListener): void;
}

export type RegistrationListener = (tenant: string, definition: WorkflowDefinition) => Promise<void>;

export function createWorkflows(options: {
  store: Pick<Store, 'commit' | 'records'>;
  now: () => number;
  /** How long another process may go on with an older version after a registration here. */
  cacheMs: number;
}): WorkflowsWithPlans {
  const { store, now, cacheMs } = options;
  const plans = new Map<string, Plan>();
  const resolved = new Map<string, { workflow: ResolvedWorkflow; until: number }>();
  const listeners: RegistrationListener[] = [];

  async function planOf(workflowHash: string): Promise<Plan> {
    const present = plans.get(workflowHash);
    if (present) return present;
    const body = await store.records.definition(workflowHash);
    if (body === null) throw new Error(`definition ${workflowHash} is missing from the store`);
    return remember(plans, PLANS_MAX, workflowHash, compile(JSON.parse(body), COMPILE));
  }

  async function resolve(tenant: string, workflowId: string): Promise<ResolvedWorkflow | null> {
    const key = `${tenant}\0${workflowId}`;
    const cached = resolved.get(key);
    if (cached && cached.until > now()) return cached.workflow;
    const record = await store.records.workflow(tenant, workflowId);
    if (!record) return null;
    const plan = await planOf(record.hash);
    const workflow = { record, definition: plan.definition, plan };
    remember(resolved, RESOLVED_MAX, key, { workflow, until: now() + cacheMs });
    return workflow;
  }

  async function registerAll(tenant: string, definitions: readonly unknown[]): Promise<WorkflowRecord[]> {
    const checked = definitions.map((definition) => check(definition, now()));
    const entries = await Promise.all(checked.map((plan) => registrationOf(store, tenant, plan, now())));
    const writes = entries.flatMap((entry) => entry.writes);
    if (writes.length > 0) await store.commit([writes]);
    resolved.clear();
    for (const { definition } of entries) for (const hear of listeners) await hear(tenant, definition);
    return entries.map(({ record }) => record);
  }

  return {
    planOf,
    resolve,
    registerAll,
    async register(tenant, definition) {
      const [record] = await registerAll(tenant, [definition]);
      return record!;
    },
    onRegistered(listener) {
      listeners.push(listener);
    },
  };
}

interface Registration {
  readonly definition: WorkflowDefinition;
  readonly record: WorkflowRecord;
  readonly writes: readonly Write[];
}

/** What registering the definition writes: nothing when it is the current one already. */
async function registrationOf(
  store: Pick<Store, 'records'>,
  tenant: string,
  { definition }: Plan,
  registeredAt: number,
): Promise<Registration> {
  const { id, version, name } = definition;
  const body = canonicalize(definition);
  if (body === undefined) throw new Error('a valid definition has a canonical form');
  const record = { tenant, workflowId: id, hash: sha256(body), version, name, registeredAt };
  const current = await store.records.workflow(tenant, id);
  if (current?.tenant === tenant && current.hash === record.hash)
    return { definition, record: current, writes: [] };
  return {
    definition,
    record,
    writes: [
      { kind: 'putDefinition', hash: record.hash, body },
      { kind: 'putWorkflow', record },
      triggerSyncNote(record),
      subscriptionSyncNote(record, registeredAt, randomBytes),
    ],
  };
}

function remember<T>(cache: Map<string, T>, max: number, key: string, value: T): T {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > max) cache.delete(cache.keys().next().value!);
  return value;
}

/** Everything that is wrong with a definition, at once. */
function check(definition: unknown, now: number): Plan {
  if (!shape.Check(definition)) {
    const issues = shape
      .Errors(definition)
      .map((error) => ({ path: error.instancePath, message: error.message }));
    throw invalid(issues);
  }
  const triggers = [...scheduleTriggerIssues(definition, now), ...triggerIssues(definition)];
  if (triggers.length > 0) throw invalid(triggers.map(({ path, message }) => ({ path, message })));
  const schema = configurableSchemaIssues(definition);
  if (schema.length > 0) throw invalid(schema.map((message) => ({ path: '/configurableSchema', message })));
  try {
    return compile(definition, COMPILE);
  } catch (error) {
    if (error instanceof DefinitionError) throw refusal(error);
    throw error;
  }
}

function invalid(issues: Issue[]): OpenwopError {
  const [first] = issues;
  return new OpenwopError('validation_error', {
    message: `The workflow definition is not valid: ${first?.path || '/'} ${first?.message}.`,
    details: { issues: issues.slice(0, ISSUES_MAX) },
  });
}

function refusal(error: DefinitionError): OpenwopError {
  const gated = error.issues.find((issue) => issue.code === 'capability_required');
  if (!gated) return invalid(error.issues.map(({ path, message }) => ({ path, message })));
  return new OpenwopError('capability_required', {
    message: `This host can't run the workflow: ${gated.message}.`,
    details: { ...gated.details, issues: error.issues.map(({ path, message }) => ({ path, message })) },
  });
}
