import { type Json, type JsonObject, mistyped, type RunError, type WorkflowVariable } from '@gantry/protocol';
import { readRefusal } from './channels/access.ts';
import { type Expression, ExpressionError, type Meter, openMeter } from './expression.ts';
import { asJson, isObject, isTooLarge, own, tooLarge } from './json.ts';
import type { InputPort, Plan, PlanEdge, PlanNode } from './plan.ts';
import { isTaken } from './readiness.ts';
import type { Run, RunFacts } from './run.ts';
import { scopeFor } from './scope.ts';

export type ResolvedInputs =
  | { readonly ok: true; readonly inputs: JsonObject }
  | { readonly ok: false; readonly error: RunError };

/** The values of taken edges, then those of the node's own ports. */
export function resolveInputs(plan: Plan, node: PlanNode, run: Run): ResolvedInputs {
  const denied = readRefusal(plan, node, run);
  if (denied) return { ok: false, error: denied };
  const inputs: JsonObject = {};
  for (const edge of node.incoming) copyEdge(edge, run, inputs);
  for (const edge of node.loopbacksIn) copyEdge(edge, run, inputs);
  const meter = openMeter();
  for (const port of node.inputs) {
    const error = resolvePort(plan, port, run, inputs, meter);
    if (error) return { ok: false, error };
  }
  if (node.pack && node.inputs.length === 0 && Object.keys(inputs).length === 0)
    Object.assign(inputs, unmappedInputs(plan, node, run));
  if (node.keepsInputs && isTooLarge(inputs)) return { ok: false, error: tooLarge('The inputs of the node') };
  return { ok: true, inputs };
}

/**
 * A pack node without mapped inputs gets the inputs of the run that its schema names, or all if the schema
 * names none. Inputs that the author set in `config` are left out, since packs read both. Sensitive inputs must
 * be mapped by the author.
 */
function unmappedInputs(plan: Plan, { definition, pack }: PlanNode, { facts }: Run): JsonObject {
  const named = pack?.inputSchema?.properties;
  const given = seededInputs(plan, facts);
  const inputs: JsonObject = {};
  for (const { name, defaultValue, sensitive } of plan.variables.values()) {
    const value = own(given, name) ?? defaultValue;
    const isWanted = !isObject(named) || Object.hasOwn(named, name);
    if (value !== undefined && isWanted && !sensitive && !Object.hasOwn(definition.config, name))
      inputs[name] = asJson(value);
  }
  return inputs;
}

function copyEdge(edge: PlanEdge, run: Run, inputs: JsonObject): void {
  const state = run.nodes.get(edge.source.id);
  if (state?.status !== 'completed' || !isTaken(edge, state)) return;
  const value = own(state.outputs, edge.sourceOutput);
  if (value !== undefined) inputs[edge.targetInput] = value;
}

function resolvePort(
  plan: Plan,
  port: InputPort,
  run: Run,
  inputs: JsonObject,
  meter: Meter,
): RunError | undefined {
  switch (port.type) {
    case 'static':
      inputs[port.name] = port.value;
      return;
    case 'variable': {
      const value = own(run.variables, port.variableName);
      return put(port, value, inputs, `the variable ${port.variableName} has no value`);
    }
    case 'connection': {
      const state = run.nodes.get(port.nodeId);
      const value = state?.status === 'completed' ? own(state.outputs, port.outputKey) : undefined;
      return put(port, value, inputs, `the node ${port.nodeId} gave no output ${port.outputKey}`);
    }
    case 'expression':
      try {
        inputs[port.name] = evaluate(plan, port.expression, run, {}, meter);
        return;
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        return { code: 'expression_failed', message: `The input ${port.name}: ${error.message}` };
      }
  }
}

function put(
  port: { readonly name: string; readonly optional: boolean },
  value: Json | undefined,
  inputs: JsonObject,
  reason: string,
): RunError | undefined {
  if (value !== undefined) inputs[port.name] = value;
  else if (!port.optional)
    return { code: 'input_unresolved', message: `The input ${port.name} has no value: ${reason}.` };
  return;
}

/** Evaluates an expression of a port or an edge, where `inputs` are those of the run. */
export function evaluate(
  plan: Plan,
  expression: Expression,
  run: Run,
  local: JsonObject,
  meter: Meter,
): Json {
  const scope = scopeFor(expression, run, local);
  if (expression.roots.has('inputs')) scope.inputs = seededInputs(plan, run.facts);
  return expression.evaluate(scope, meter);
}

/**
 * The effective inputs. External inputs that no variable declares are only kept with the run's facts. The
 * inputs of a child are chosen by its parent.
 */
export function seededInputs(plan: Plan, { inputs, parent }: RunFacts): JsonObject {
  if (parent) return inputs;
  const declared: JsonObject = {};
  for (const name of plan.variables.keys()) {
    const value = own(inputs, name);
    if (value !== undefined) declared[name] = value;
  }
  return declared;
}

export interface InputIssue {
  readonly path: string;
  readonly message: string;
}

/** Checks the inputs that a run is to be created with. */
export const checkInputs = (plan: Plan, inputs: JsonObject): InputIssue[] =>
  inputIssues([...plan.variables.values()], inputs);

export function inputIssues(variables: readonly WorkflowVariable[], inputs: JsonObject): InputIssue[] {
  const names = variables.map(({ name }) => name);
  const issues: InputIssue[] = [];
  for (const variable of variables) {
    const path = `/inputs/${variable.name}`;
    const value = own(inputs, variable.name);
    if (value === undefined) {
      if (variable.required && variable.defaultValue === undefined)
        issues.push({
          path,
          message: `${variable.name} is required${mistyped(variable.name, Object.keys(inputs), names)}`,
        });
    } else if (!hasType(value, variable.type))
      issues.push({ path, message: `${variable.name} must be of type ${variable.type}` });
  }
  return issues;
}

/** The declared type is enforced; `format` is never checked. */
export function hasType(value: Json, type: WorkflowVariable['type']): boolean {
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isObject(value) : typeof value === type;
}
