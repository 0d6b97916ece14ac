import type { JsonObject } from '@gantry/protocol';
import { reviewed, shownContent } from '../artifacts/artifact.ts';
import { isConformance } from '../conformance-workflow.ts';
import { checkData, resumeSchemaOf, timeoutOf } from '../interrupt/data.ts';
import type { InterruptRequest } from '../interrupt/interrupt.ts';
import { suspend } from '../interrupt/suspend.ts';
import { copyInto, isTooLarge, tooLarge } from '../json.ts';
import { failNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import { failed, type NodeType, type Preparation, type Result, type Visit } from './node-type.ts';

export const approvalGate: NodeType = {
  typeId: 'core.approvalGate',
  reviews: true,
  prepare(preparation) {
    const { config } = preparation;
    const data = approvalData(preparation);
    checkData(preparation, '', 'approval', { ...data, ...madeUp(config, 'id') });
    const request: Omit<InterruptRequest, 'data'> = {
      kind: 'approval',
      ...timeoutOf(preparation, 'timeoutMs'),
      ...resumeSchemaOf(preparation),
      ...(config.profile === AUTH_REQUIRED && { rules: { authRequired: true } }),
    };
    return (visit) => askApproval(visit, config, data, request);
  },
};

const AUTH_REQUIRED = 'openwop-interrupt-auth-required';

/** Copied to the interrupt data from the config unchanged. */
const VERBATIM = [
  'description',
  'artifactData',
  'requiredApprovals',
  'approversList',
  'rejectionPolicy',
  'distinctVoters',
  'approverGroupRefs',
  'approverRoleRefs',
  'audience',
];

function approvalData({ node, config, definition }: Preparation): JsonObject {
  const data: JsonObject = {
    title: config.title ?? node.name,
    actions: config.actions ?? ['accept', 'reject'],
  };
  // The public suite votes for several people with one key
  if (config.requiredApprovals !== undefined && isConformance(definition)) data.distinctVoters = false;
  for (const key of VERBATIM) if (config[key] !== undefined) data[key] = config[key];
  return data;
}

/** The protocol requires every approval to be about an artifact; a gate without one names itself. */
const madeUp = (config: JsonObject, artifactId: string, artifactType = 'approval'): JsonObject => ({
  artifactId: config.artifactId ?? artifactId,
  artifactType: config.artifactType ?? artifactType,
});

/**
 * The subject of the approval: the only artifact before the gate that waits for an approval, if there is exactly one.
 */
function subjectOf(step: Step, gate: PlanNode, config: JsonObject): JsonObject {
  const { plan, run } = step;
  const [producer, ...others] = reviewed(step, gate);
  if (!producer || others.length > 0)
    return madeUp(config, `${run.facts.runId}:${gate.id}:${run.visits.get(gate.id) ?? 1}`);
  const { id, typeId } = producer.artifact;
  return { ...madeUp(config, id, typeId), artifactData: shownContent(plan, run, producer) ?? null };
}

/** What people read may be computed: an input replaces the setting of its name. A setting is shown as written. */
const SHOWN_TEXTS = ['title', 'description'];

function computed(inputs: JsonObject): JsonObject | string {
  const data: JsonObject = {};
  for (const name of SHOWN_TEXTS) {
    const value = inputs[name];
    if (value === undefined) continue;
    if (value === '' || !['string', 'number', 'boolean'].includes(typeof value))
      return `The input ${name} must be a text that is not empty.`;
    data[name] = String(value);
  }
  if (inputs.artifactData !== undefined) data.artifactData = inputs.artifactData;
  return data;
}

export function askApproval(
  { inputs }: Visit,
  config: JsonObject,
  gate: JsonObject,
  request: Omit<InterruptRequest, 'data'>,
): Result {
  const shown = computed(inputs);
  if (typeof shown === 'string') return failed('invalid_input', shown);
  return {
    kind: 'acts',
    act: (step, node) => {
      const data = subjectOf(step, node, config);
      copyInto(data, gate);
      copyInto(data, shown);
      if (isTooLarge(data)) failNode(step, node, tooLarge('The contents of the interrupt'), false);
      else suspend(step, node, { ...request, data });
    },
  };
}
