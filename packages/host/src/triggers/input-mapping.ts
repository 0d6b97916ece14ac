/** From the trigger event to the inputs of the run. Pure. */
import type { InputMapping, Json, JsonObject, WorkflowVariable } from '@gantry/protocol';

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

type Variable = Pick<WorkflowVariable, 'name' | 'required' | 'defaultValue'>;

/** Why no event could ever start the workflow with this mapping; null when one can. */
export function mappingProblem(variables: readonly Variable[], mapping: InputMapping): string | null {
  for (const name of Object.keys(mapping)) {
    if (!variables.some((variable) => variable.name === name))
      return `inputMapping names ${name}, which is not a variable of the workflow`;
  }
  for (const { name, required, defaultValue } of variables) {
    if (required && defaultValue === undefined && !Object.hasOwn(mapping, name))
      return `the workflow requires ${name}, which inputMapping does not set`;
  }
  return null;
}
