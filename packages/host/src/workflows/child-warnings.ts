/**
 * Compares what a definition says of its children with the workflows that are registered. It only warns: parents are
 * registered before their children, and children change.
 */
import type { DefinitionWarning } from '@gantry/engine';
import { didYouMean, given, isObject, pointer, type WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';

/** What a node says of one child. Mappings that are for several children are left out. */
interface Reference {
  readonly workflowId: string;
  readonly path: string;
  readonly inputs?: Mapping;
  readonly outputs?: Mapping;
}

interface Mapping {
  readonly path: string;
  readonly names: Readonly<Record<string, unknown>>;
}

const mappingOf = (path: string, names: unknown): Mapping => ({ path, names: isObject(names) ? names : {} });

type Records = Pick<Store['records'], 'workflow' | 'workflows' | 'definition'>;

const CHILDREN_MAX = 200;

/** `others` are definitions that are registered together with this one. */
export async function childWarnings(
  records: Records,
  tenant: string,
  definition: WorkflowDefinition,
  others: readonly WorkflowDefinition[] = [],
): Promise<DefinitionWarning[]> {
  const references = definition.nodes.flatMap(referencesOf);
  const ids = [...new Set(references.map(({ workflowId }) => workflowId))].slice(0, CHILDREN_MAX);
  if (ids.length === 0) return [];
  const near = [definition, ...others];
  const children = new Map<string, WorkflowDefinition | null>();
  for (const id of ids)
    children.set(id, near.find((each) => each.id === id) ?? (await registered(records, tenant, id)));
  const isMissing = [...children.values()].includes(null);
  const known = isMissing ? (await records.workflows(tenant)).map(({ workflowId }) => workflowId) : [];
  return references.flatMap((reference) => {
    const child = children.get(reference.workflowId);
    if (child === undefined) return [];
    return child ? mappingWarnings(reference, child) : [unknownChild(reference, known)];
  });
}

async function registered(records: Records, tenant: string, id: string): Promise<WorkflowDefinition | null> {
  const record = await records.workflow(tenant, id);
  const body = record && (await records.definition(record.hash));
  return body ? JSON.parse(body) : null;
}

function referencesOf(
  { typeId, disabled, config, inputs: { decision } }: WorkflowDefinition['nodes'][number],
  position: number,
): Reference[] {
  if (disabled) return [];
  const path = `/nodes/${position}`;
  const { workflowId } = config;
  if (typeId === 'core.subWorkflow' && typeof workflowId === 'string') {
    const inputs = mappingOf(`${path}/config/inputMapping`, config.inputMapping);
    const outputs = mappingOf(`${path}/config/outputMapping`, config.outputMapping);
    return [{ workflowId, path: `${path}/config/workflowId`, inputs, outputs }];
  }
  if (typeId === 'core.orchestrator.supervisor' && decision?.type === 'static')
    return workersOf(decision.value).map((worker, index) => ({
      workflowId: worker,
      path: `${path}/inputs/decision/value/nextWorkerIds/${index}`,
    }));
  return typeId === 'core.dispatch'
    ? [...perWorker(path, config, 'inputs'), ...perWorker(path, config, 'outputs')]
    : [];
}

function workersOf(decision: unknown): string[] {
  const { nextWorkerIds } = Object(decision) as { readonly nextWorkerIds?: unknown };
  return Array.isArray(nextWorkerIds) ? nextWorkerIds.filter((id) => typeof id === 'string') : [];
}

const PER_WORKER = { inputs: 'perWorkerInputMappings', outputs: 'perWorkerOutputMappings' } as const;

function perWorker(path: string, config: object, side: keyof typeof PER_WORKER): Reference[] {
  const { [PER_WORKER[side]]: mappings } = config as { readonly [name: string]: unknown };
  return Object.entries(Object(mappings)).map(([workflowId, names]) => {
    const at = pointer(`${path}/config/${PER_WORKER[side]}`, workflowId);
    return { workflowId, path: at, [side]: mappingOf(at, names) };
  });
}

const unknownChild = ({ workflowId, path }: Reference, known: readonly string[]): DefinitionWarning => ({
  path,
  message: `There is no workflow ${workflowId}`,
  fix: didYouMean(workflowId, known).trim() || 'Register it before the first run.',
});

function mappingWarnings({ workflowId, inputs, outputs }: Reference, child: WorkflowDefinition) {
  const declared = child.variables.map(({ name }) => name);
  const undeclared = (path: string, name: string): DefinitionWarning[] => {
    if (declared.includes(name)) return [];
    const fix = didYouMean(name, declared).trim() || undefined;
    return [{ path, message: `${workflowId} declares no variable ${name}`, ...given({ fix }) }];
  };
  const unmapped = inputs ? child.variables.filter(({ name }) => !Object.hasOwn(inputs.names, name)) : [];
  const missing = unmapped.filter(({ required, defaultValue }) => required && defaultValue === undefined);
  return [
    ...membersOf(inputs).flatMap(({ path, to }) => undeclared(path, to)),
    ...membersOf(outputs).flatMap(({ path, from }) => undeclared(path, from)),
    ...missing.map(({ name }) => ({
      path: pointer(inputs!.path, name),
      message: `${workflowId} requires ${name}, which the mapping does not name, so it would not be started`,
      fix: `Map ${name}, or give it a defaultValue in ${workflowId}.`,
    })),
  ];
}

const membersOf = (mapping: Mapping | undefined) =>
  Object.entries(mapping?.names ?? {}).map(([to, from]) => ({
    path: pointer(mapping!.path, to),
    to,
    from: String(from),
  }));
