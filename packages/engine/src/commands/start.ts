import type { JsonObject } from '@gantry/protocol';
import { ENGINE_VERSION, eventId } from '@gantry/protocol';
import { reserveBudget } from '../budget/budget.ts';
import { seededInputs } from '../inputs.ts';
import { asJson, isObject, own } from '../json.ts';
import { maskVariables } from '../mask.ts';
import type { Plan } from '../plan.ts';
import type { RunFacts } from '../run.ts';
import { emit, record, type Step } from '../step.ts';

/** Readers see the declared inputs. `sealed` holds the variables if masks or defaults make them differ. */
export function start(step: Step): void {
  const { plan, run } = step;
  if (run.status !== 'pending') return;
  const { facts } = run;
  const inputs = seededInputs(plan, facts);
  const shown = maskVariables(plan, inputs);
  const given = withParameters(plan, inputs, facts.configurable);
  const variables = withDefaults(plan, given, facts.parent?.unset ?? []);
  const payload = {
    workflowId: facts.workflowId,
    inputs: shown,
    transport: 'rest',
    engineVersion: String(ENGINE_VERSION),
    owner: { ...facts.owner },
    tags: [...facts.tags],
    metadata: facts.metadata,
  };
  const sealed = shown === variables ? undefined : { variables };
  // `run.started` is the first event of every log, so the delivery attempts that caused it come next
  const { runId, delivery } = facts;
  const causationId = delivery ? eventId(runId, run.nextSeq + delivery.attempt) : facts.causationId;
  const cause = causationId === undefined ? {} : { causationId };
  record(step, { type: 'run.started', at: step.now, payload, ...cause, ...(sealed && { sealed }) });
  if (delivery) tellAttempts(step, delivery);
  reserveBudget(step);
}

/** Attempts before the last one found no capacity on the host, and there was no log yet. */
function tellAttempts(step: Step, delivery: NonNullable<RunFacts['delivery']>): void {
  const { runId } = step.run.facts;
  for (let attempt = 1; attempt <= delivery.attempt; attempt++) {
    const outcome = attempt < delivery.attempt ? { outcome: 'retrying' } : { outcome: 'delivered', runId };
    emit(step, 'trigger.delivery.attempted', { ...delivery, attempt, ...outcome });
  }
}

/** Deferred parameters of a workflow chain: a run sets them in `configurable` by their bare names. */
function withParameters(plan: Plan, inputs: JsonObject, configurable: JsonObject): JsonObject {
  const metadata: { readonly [key: string]: unknown } = plan.definition.metadata;
  const aliases = metadata.deferredParameterAliases;
  if (!isObject(aliases)) return inputs;
  const given: JsonObject = {};
  for (const [bare, variable] of Object.entries(aliases)) {
    const value = own(configurable, bare);
    if (value !== undefined && typeof variable === 'string') given[variable] = value;
  }
  return { ...given, ...inputs };
}

/** Variables that a parent mapped from an unset value stay unset, and get no default. */
function withDefaults(plan: Plan, inputs: JsonObject, unset: readonly string[]): JsonObject {
  let variables = inputs;
  for (const variable of plan.variables.values()) {
    const { name, defaultValue } = variable;
    if (defaultValue === undefined || own(inputs, name) !== undefined || unset.includes(name)) continue;
    if (variables === inputs) variables = { ...inputs };
    variables[name] = asJson(defaultValue);
  }
  return variables;
}
