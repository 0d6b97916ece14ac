/** Plans of definitions: compiled once per hash, with the packs that serve them. */
import { compile, DefinitionError, type Plan } from '@gantry/engine';
import { OpenwopError, type WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import canonicalize from 'canonicalize';
import { type PinnedTypes, usesPacks } from '../packs/binding.ts';
import type { PackBinding } from '../packs/packs.ts';
import type { Checked } from '../runtime/runtime.ts';
import { sha256 } from './chain-options.ts';
import { type Issue, issuesIn, refusal } from './refusal.ts';
import { compileUserSchema } from './user-schema.ts';

const PLANS_MAX = 1_000;

const compileWith = (definition: WorkflowDefinition, types: PinnedTypes): Plan =>
  compile(definition, { sha256, compileSchema: compileUserSchema, ...types });

export interface Plans {
  /** The plan of a definition that a run is pinned to. */
  planOf(workflowHash: string): Promise<Plan>;
  /** The definition that a new run of this tenant is pinned to. */
  planFor(tenant: string, hash: string): Promise<PlanFor>;
}

export interface PlanFor {
  readonly hash: string;
  readonly plan: Plan;
  /** As its author wrote it. */
  readonly definition: WorkflowDefinition;
}

export function createPlans(store: Pick<Store, 'commit' | 'records'>, packs: PackBinding): Plans {
  const plans = new Map<string, Plan>();

  async function planOf(workflowHash: string): Promise<Plan> {
    const present = plans.get(workflowHash);
    if (present) return present;
    const definition = await read(store, workflowHash);
    const plan = compileWith(definition, await packs.typesOf(definition));
    return remember(plans, PLANS_MAX, workflowHash, plan);
  }

  /**
   * If packs serve a workflow, its runs are pinned to a definition that names them by version and content. It
   * is on disk before any run refers to it.
   */
  async function planFor(tenant: string, hash: string): Promise<PlanFor> {
    const present = plans.get(hash);
    if (present && !usesPacks(present.definition))
      return { hash, plan: present, definition: present.definition };
    const definition = await read(store, hash);
    if (!usesPacks(definition)) return { hash, plan: await planOf(hash), definition };
    const exact = canonical(await packs.pin(tenant, definition));
    await store.commit([[{ kind: 'putDefinition', ...exact }]]);
    try {
      return { hash: exact.hash, plan: await planOf(exact.hash), definition };
    } catch (error) {
      if (error instanceof DefinitionError) throw refusal(definition, error);
      throw error;
    }
  }

  return { planOf, planFor };
}

async function read(store: Pick<Store, 'records'>, hash: string): Promise<WorkflowDefinition> {
  const body = await store.records.definition(hash);
  if (body === null) throw new Error(`definition ${hash} is missing from the store`);
  return JSON.parse(body);
}

export function canonical(definition: WorkflowDefinition): { hash: string; body: string } {
  const body = canonicalize(definition);
  if (body === undefined) throw new Error('a valid definition has a canonical form');
  return { hash: sha256(body), body };
}

/** Checks that everything the definition uses exists and is used correctly, before any run. */
export async function checkPlan(
  packs: PackBinding,
  tenant: string,
  definition: WorkflowDefinition,
): Promise<Plan> {
  const exact = usesPacks(definition) ? await packs.pin(tenant, definition) : definition;
  try {
    return compileWith(exact, await packs.typesOf(exact));
  } catch (error) {
    if (error instanceof DefinitionError) throw refusal(definition, error);
    throw error;
  }
}

/** All issues and warnings of the same. If a pack cannot be chosen, the rest is checked without packs. */
export async function planProblems(
  packs: PackBinding,
  tenant: string,
  definition: WorkflowDefinition,
): Promise<Pick<Checked, 'issues' | 'warnings'>> {
  const refused: Issue[] = [];
  const exact = usesPacks(definition) ? await pinned() : definition;
  try {
    return { issues: refused, warnings: compileWith(exact, await packs.typesOf(exact)).warnings };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const isOfPack = ({ path }: Issue): boolean => refused.length > 0 && path.endsWith('/typeId');
    return {
      issues: [...refused, ...error.issues.filter((issue) => !isOfPack(issue))],
      warnings: error.warnings,
    };
  }

  async function pinned(): Promise<WorkflowDefinition> {
    try {
      return await packs.pin(tenant, definition);
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      refused.push(...issuesIn(error).map((issue) => ({ ...issue, path: issue.path || '/packs' })));
      return { ...definition, packs: {} };
    }
  }
}

/** The oldest entry is removed when there are too many. */
export function remember<T>(cache: Map<string, T>, max: number, key: string, value: T): T {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > max) cache.delete(cache.keys().next().value!);
  return value;
}
