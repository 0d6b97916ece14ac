/** The names of the inputs that nodes get, compared with those that their types declare. */
import { type Json, pointer, type WorkflowDefinition, type WorkflowNode } from '@gantry/protocol';
import type { Compilation } from './compilation.ts';
import { asJson, isObject } from './json.ts';
import type { PackNodeType } from './nodes/pack-node.ts';
import { decisionOf } from './orchestrator.ts';

type Names = ReadonlySet<string>;

/** By node: its own ports, and those that edges into it fill. */
export function inputNames({ nodes, edges }: WorkflowDefinition): ReadonlyMap<string, Names> {
  const names = new Map(nodes.map(({ id, inputs }) => [id, new Set(Object.keys(inputs))]));
  for (const { targetNodeId, targetInput = 'input' } of edges) names.get(targetNodeId)?.add(targetInput);
  return names;
}

/** A node without edges into it starts with the run, which is rarely meant beside a `core.start`. */
export function checkEntries(compilation: Compilation): void {
  const { nodes, edges } = compilation.definition;
  const start = nodes.find(({ typeId, disabled }) => typeId === 'core.start' && !disabled);
  if (!start) return;
  const targets = new Set(edges.map(({ targetNodeId }) => targetNodeId));
  nodes.forEach(({ id, typeId, disabled }, position) => {
    if (typeId === 'core.start' || disabled || targets.has(id)) return;
    compilation.warn(
      `/nodes/${position}`,
      `No edge leads to ${id}, so it starts with the run, beside ${start.id}`,
      'Add an edge to it, or delete it.',
    );
  });
}

/** Compares the inputs of a node of a pack with their schema, which may leave names open. */
export function checkPackInputs(
  compilation: Compilation,
  node: WorkflowNode,
  path: string,
  { inputSchema }: PackNodeType,
): void {
  const known = declaredInputs(inputSchema);
  if (!known) return;
  const mapped = Object.keys(node.inputs);
  for (const name of mapped) checkInputName(compilation, pointer(`${path}/inputs`, name), name, known);
  const given = compilation.inputNames.get(node.id)!;
  for (const name of known.required) {
    if (given.has(name) || Object.hasOwn(node.config, name)) continue;
    // Without mapped inputs the node gets those of the run
    if (mapped.length === 0 && compilation.variables.has(name)) continue;
    compilation.warn(
      pointer(`${path}/inputs`, name),
      `${node.typeId} requires the input ${name}, which the node does not get`,
      'Map it in `inputs`, or set it in `config`.',
    );
  }
}

/** In an open schema only names that resemble a declared one are reported. */
export function checkInputName(
  compilation: Compilation,
  path: string,
  name: string,
  known: DeclaredInputs,
): void {
  if (known.names.includes(name)) return;
  const fix = compilation.suggestion(name, known.names);
  if (fix || known.isClosed) compilation.warn(path, `The type of the node declares no input ${name}`, fix);
}

/** A decision that never changes is checked before any run. */
export function checkDecision(
  compilation: Compilation,
  { typeId, inputs }: WorkflowNode,
  path: string,
): void {
  const port = inputs.decision;
  if (typeId !== 'core.orchestrator.supervisor' || port?.type !== 'static') return;
  const decision = decisionOf(asJson(port.value));
  if (typeof decision === 'string') compilation.issue(`${path}/inputs/decision/value`, decision);
}

interface DeclaredInputs {
  readonly names: readonly string[];
  readonly required: readonly string[];
  readonly isClosed: boolean;
}

export function declaredInputs(schema: Json | undefined): DeclaredInputs | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) return;
  const { properties, required, additionalProperties } = schema;
  const listed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return { names: Object.keys(properties), required: listed, isClosed: additionalProperties === false };
}
