import type { Json, JsonObject, RunError, WorkflowNode } from '@gantry/protocol';
import { isObject, isReservedName, own } from '../json.ts';
import type { Preparation } from '../nodes/node-type.ts';
import type { Plan, PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import { changeVariables, refusalOf } from '../variable-writes.ts';
import { emitChain } from './chain.ts';
import type { EndedChild } from './child.ts';

/** Keys are target names, values are source names. */
export type NameMap = { readonly [to: string]: string };

/** The variables that a child gets from its parent, and those that it returns. */
export interface Mapping {
  readonly inputs: NameMap;
  readonly outputs: NameMap;
}

/** How a node treats its children. */
export interface ChildTerms {
  readonly mappingOf: (workflowId: string) => Mapping;
  /** Whether children are cancelled when the node ends. */
  readonly propagateCancellation: boolean;
}

const NAMES_MAX = 256;

/** Reads a mapping of the node's config, and reports its issues. */
export function nameMap(
  preparation: Preparation,
  key: string,
  value: Json | undefined,
  direction: keyof Mapping,
): NameMap {
  if (value === undefined) return {};
  if (!isObject(value)) {
    preparation.issue(key, 'A mapping must be an object from names to names');
    return {};
  }
  const names = Object.keys(value);
  if (names.length > NAMES_MAX) preparation.issue(key, `A mapping can have at most ${NAMES_MAX} names`);
  for (const name of names) {
    const from = own(value, name);
    if (typeof from !== 'string' || from === '')
      preparation.issue(`${key}/${name}`, 'The target of a mapping must be the name of a variable');
    else if (isReservedName(name) || isReservedName(from))
      preparation.issue(`${key}/${name}`, `${isReservedName(name) ? name : from} is a reserved name`);
    else preparation.checkVariable(`${key}/${name}`, direction === 'inputs' ? from : name, direction);
  }
  return value as NameMap;
}

/** The variables of its workflow that the mappings of a node write, whether they are declared or not. */
export function harvestedNames({ config }: WorkflowNode): string[] {
  const { outputMapping, perWorkerOutputMappings } = config;
  const maps = [outputMapping, ...Object.values(Object(perWorkerOutputMappings))];
  return maps.flatMap((map) => (isObject(map) ? Object.keys(map) : []));
}

/** Inputs of a child, from the parent's current variables; `unset` lists names without a value. */
export function mapInputs(names: NameMap, variables: JsonObject): { inputs: JsonObject; unset: string[] } {
  const inputs: JsonObject = {};
  const unset: string[] = [];
  for (const name of Object.keys(names)) {
    const value = own(variables, names[name]!);
    // Null clears a variable; a child never treats it as a value of the declared type.
    if (value === undefined || value === null) unset.push(name);
    else inputs[name] = value;
  }
  return { inputs, unset };
}

/** The new values of the parent's variables; a variable that the child does not have changes nothing. */
export function mapOutputs(names: NameMap, variables: JsonObject): JsonObject {
  const writes: JsonObject = {};
  for (const name of Object.keys(names)) {
    const value = own(variables, names[name]!);
    if (value !== undefined) writes[name] = value;
  }
  return writes;
}

export interface Harvest {
  readonly child: EndedChild;
  readonly outputs: NameMap;
  /** The child's variables; for an edited approval, the edited ones. */
  readonly variables: JsonObject;
  readonly attestation?: JsonObject;
}

/**
 * Merges the reports of completed children into the variables of their parent, in the given order, so the last
 * one wins. Returns the error if nothing was merged.
 */
export function mergeHarvests(
  step: Step,
  node: PlanNode,
  harvests: readonly Harvest[],
): RunError | undefined {
  const merges = harvests.map((harvest) => ({
    ...harvest,
    writes: mapOutputs(harvest.outputs, harvest.variables),
  }));
  for (const { child, outputs, writes } of merges) {
    const refusal = exposure(step.plan, child, outputs) ?? refusalOf(step.plan, held(step.plan, writes));
    if (refusal) return refusal;
  }
  for (const { child, outputs, writes, attestation } of merges) {
    if (Object.keys(outputs).length === 0) continue;
    changeVariables(step, node, writes);
    const payload: JsonObject = { harvestedKeys: Object.keys(writes) };
    if (attestation) payload.attestation = attestation;
    emitChain(step, node, child, 'output.harvested', { payload });
  }
  return;
}

/**
 * Variables that the parent does not declare may be written, since public workflows do so. Declared ones keep
 * their type.
 */
function held(plan: Plan, writes: JsonObject): JsonObject {
  const names = Object.keys(writes).filter((name) => plan.variables.has(name) || plan.channels.has(name));
  return Object.fromEntries(names.map((name) => [name, writes[name]!]));
}

/** Sensitive variables of a child must not become readable in its parent. */
function exposure(plan: Plan, { sensitive = [] }: EndedChild, outputs: NameMap): RunError | undefined {
  const name = Object.keys(outputs).find(
    (to) => sensitive.includes(outputs[to]!) && plan.variables.get(to)?.sensitive !== true,
  );
  if (name === undefined) return;
  const message = `The child declares ${outputs[name]} as sensitive; declare the variable ${name} as sensitive too.`;
  return { code: 'validation_error', message };
}
