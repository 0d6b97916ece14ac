import { type Json, type JsonObject, meant, type RunError } from '@gantry/protocol';
import { hasType } from './inputs.ts';
import { own } from './json.ts';
import type { Plan, PlanNode } from './plan.ts';
import { noVariable } from './read-paths.ts';
import { emit, emitNode, type Step } from './step.ts';

export type VariableWrites = { readonly [name: string]: Json };

/** Why these values cannot be written. Null clears a variable of any type. */
export function refusalOf(plan: Plan, variables: VariableWrites): RunError | undefined {
  for (const name of Object.keys(variables)) {
    if (plan.channels.has(name))
      return { code: 'validation_error', message: `${name} is a channel, and is not written as a variable.` };
    const variable = plan.variables.get(name);
    if (!variable)
      return {
        code: 'unknown_variable',
        message: `${noVariable(name)}${meant(name, [...plan.variables.keys()])}.`,
      };
    const value = variables[name]!;
    if (value !== null && !hasType(value, variable.type))
      return {
        code: 'variable_type_mismatch',
        message: `The variable ${name} holds a value of type ${variable.type}.`,
      };
  }
  return;
}

/** Without a node, the write comes from outside the run. */
export function changeVariables(step: Step, node: PlanNode | undefined, variables: VariableWrites): void {
  for (const name of Object.keys(variables)) changeVariable(step, node, name, variables[name]!);
}

function changeVariable(step: Step, node: PlanNode | undefined, name: string, next: Json): void {
  const previous = own(step.run.variables, name);
  const sensitive = step.plan.variables.get(name)?.sensitive === true;
  const shown = (value: Json): Json | undefined => (sensitive ? step.plan.mask(value) : value);
  const payload: JsonObject = { name, ...(node && { nodeId: node.id }) };
  const shownPrevious = previous === undefined ? undefined : shown(previous);
  const shownNext = shown(next);
  if (shownPrevious !== undefined) payload.previous = shownPrevious;
  if (shownNext !== undefined) payload.next = shownNext;
  const sealed = shownNext === next ? undefined : { next };
  if (node) emitNode(step, node.id, 'variable.changed', payload, sealed);
  else emit(step, 'variable.changed', payload, sealed);
}
