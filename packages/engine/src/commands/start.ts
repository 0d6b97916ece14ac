import type { JsonObject } from '@gantry/protocol';
import { ENGINE_VERSION } from '@gantry/protocol';
import { declaredInputs } from '../inputs.ts';
import { asJson, own } from '../json.ts';
import { maskVariables } from '../mask.ts';
import type { Plan } from '../plan.ts';
import { emit, type Step } from '../step.ts';

/** Readers see the declared inputs; `sealed` holds the variables where masks or defaults make them differ. */
export function start(step: Step): void {
  const { plan, run } = step;
  if (run.status !== 'pending') return;
  const { facts } = run;
  const inputs = declaredInputs(plan, facts.inputs);
  const shown = maskVariables(plan, inputs);
  const variables = withDefaults(plan, inputs);
  const payload = {
    workflowId: facts.workflowId,
    inputs: shown,
    transport: 'rest',
    engineVersion: String(ENGINE_VERSION),
    owner: { ...facts.owner },
    tags: [...facts.tags],
    metadata: facts.metadata,
  };
  emit(step, 'run.started', payload, shown === variables ? undefined : { variables });
}

function withDefaults(plan: Plan, inputs: JsonObject): JsonObject {
  let variables = inputs;
  for (const variable of plan.variables.values()) {
    if (variable.defaultValue === undefined || own(inputs, variable.name) !== undefined) continue;
    if (variables === inputs) variables = { ...inputs };
    variables[variable.name] = asJson(variable.defaultValue);
  }
  return variables;
}
