import type { JsonObject } from '@gantry/protocol';
import { checkData, resumeSchemaOf, timeoutOf } from '../interrupt/data.ts';
import type { InterruptRequest } from '../interrupt/interrupt.ts';
import { suspend } from '../interrupt/suspend.ts';
import { copyInto, isTooLarge, tooLarge } from '../json.ts';
import { failNode } from '../node-run.ts';
import type { NodeType, Result, Visit } from './node-type.ts';

export const approvalGate: NodeType = {
  typeId: 'core.approvalGate',
  prepare(preparation) {
    const { config } = preparation;
    const data = approvalData(preparation.node.name, config);
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

/** Told to readers as they stand in the config. */
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

function approvalData(name: string, config: JsonObject): JsonObject {
  const data: JsonObject = { title: config.title ?? name, actions: config.actions ?? ['accept', 'reject'] };
  for (const key of VERBATIM) if (config[key] !== undefined) data[key] = config[key];
  return data;
}

/** The protocol wants every approval to be about an artifact; a gate that is about none names itself. */
const madeUp = (config: JsonObject, artifactId: string): JsonObject => ({
  artifactId: config.artifactId ?? artifactId,
  artifactType: config.artifactType ?? 'approval',
});

/** What is to be approved may come in as the input `artifactData`. */
export function askApproval(
  { inputs }: Visit,
  config: JsonObject,
  gate: JsonObject,
  request: Omit<InterruptRequest, 'data'>,
): Result {
  return {
    kind: 'acts',
    act: (step, node) => {
      const visit = step.run.visits.get(node.id) ?? 1;
      const data: JsonObject = madeUp(config, `${step.run.facts.runId}:${node.id}:${visit}`);
      copyInto(data, gate);
      if (inputs.artifactData !== undefined) data.artifactData = inputs.artifactData;
      if (isTooLarge(data)) failNode(step, node, tooLarge('The contents of the question'), false);
      else suspend(step, node, { ...request, data });
    },
  };
}
