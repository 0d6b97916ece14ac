/** What a completed child reported becomes part of its parent's variables. */
import type { JsonObject, RunError } from '@gantry/protocol';
import type { Plan, PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import { changeVariables, refusalOf } from '../variable-writes.ts';
import { emitChain } from './chain.ts';
import type { EndedChild } from './child.ts';
import { mapOutputs, type NameMap } from './mapping.ts';

export interface Harvest {
  readonly child: EndedChild;
  readonly outputs: NameMap;
  /** The child's variables; of an edited approval, the edited ones. */
  readonly variables: JsonObject;
  readonly attestation?: JsonObject;
}

/** Merges in the order given, so the last one wins; answers why nothing was merged. */
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

/** Variables that the parent does not declare may be written: public workflows do so. Others keep their type. */
function held(plan: Plan, writes: JsonObject): JsonObject {
  const names = Object.keys(writes).filter((name) => plan.variables.has(name) || plan.channels.has(name));
  return Object.fromEntries(names.map((name) => [name, writes[name]!]));
}

/** What a child keeps from readers must not come to light in its parent. */
function exposure(plan: Plan, { sensitive = [] }: EndedChild, outputs: NameMap): RunError | undefined {
  const name = Object.keys(outputs).find(
    (to) => sensitive.includes(outputs[to]!) && plan.variables.get(to)?.sensitive !== true,
  );
  if (name === undefined) return;
  const message = `The child keeps ${outputs[name]} from readers; declare the variable ${name} as sensitive too.`;
  return { code: 'validation_error', message };
}
