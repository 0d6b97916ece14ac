/** From the trigger event to the inputs of the run. Pure. */
import type { InputMapping, Json, JsonObject, WorkflowVariable } from '@gantry/protocol';
import { type EventSource, eventRoots, eventTypeAt, rootOf } from './event-members.ts';

/** The value at a dotted path of member names and list indexes. */
function at(event: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = event;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Array.isArray(value) ? value[Number(name)] : value[name];
  }
  return value;
}

/** What the event does not have stays unset. */
export function mapInputs(mapping: InputMapping, event: JsonObject): JsonObject {
  const inputs: JsonObject = {};
  for (const [variable, path] of Object.entries(mapping)) {
    const value = at(event, path);
    if (value !== undefined) inputs[variable] = value;
  }
  return inputs;
}

export interface MappingProblem {
  /** The variable that it is about. */
  readonly variable: string;
  readonly problem: string;
}

/** Why no event of the source could ever start the workflow with this mapping; null when one can. */
export function mappingProblem(
  variables: readonly WorkflowVariable[],
  mapping: InputMapping,
  source: EventSource,
): MappingProblem | null {
  const known = new Map(variables.map((variable) => [variable.name, variable]));
  for (const [name, path] of Object.entries(mapping)) {
    const variable = known.get(name);
    if (!variable)
      return {
        variable: name,
        problem: `inputMapping names ${name}, which is not a variable of the workflow`,
      };
    const type = eventTypeAt(source, path);
    if (type !== undefined && type !== variable.type)
      return {
        variable: name,
        problem: `${name} must be of type ${variable.type}, but ${path} is of type ${type} in every event`,
      };
  }
  for (const { name, required, defaultValue } of variables) {
    if (!required || defaultValue !== undefined) continue;
    const path = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
    if (path === undefined)
      return {
        variable: name,
        problem: `the workflow requires ${name}, which inputMapping does not set; map it, or give it a defaultValue`,
      };
    const roots = eventRoots(source);
    if (!roots.includes(rootOf(path)))
      return {
        variable: name,
        problem: `the workflow requires ${name}, but no event has ${path}; paths begin with ${roots[0]}`,
      };
  }
  return null;
}
