import { given, type JsonObject } from '@gantry/protocol';
import { approvalOutputs } from '../interrupt/close.ts';
import { checkData, resumeSchemaOf, timeoutOf } from '../interrupt/data.ts';
import type { AnswerRules } from '../interrupt/interrupt.ts';
import { isObject } from '../json.ts';
import { completeNode } from '../node-run.ts';
import { askApproval } from './approval-gate.ts';
import type { NodeType, Preparation } from './node-type.ts';
import { settingsOf } from './settings.ts';

/** An approval that requires a role or a scope. A rejection completes the node: edges decide what follows. */
export const governanceGate: NodeType = {
  typeId: 'core.openwop.governance.approvalGate',
  reviews: true,
  prepare(preparation) {
    const { config } = preparation;
    const rules = rulesOf(preparation);
    const data = gateData(preparation, rules);
    checkData(preparation, '', 'approval', { ...data, artifactId: 'id', artifactType: 'approval' });
    const request = {
      kind: 'approval',
      rules,
      ...timeoutOf(preparation, 'timeoutSec', 1_000),
      ...resumeSchemaOf(preparation),
    } as const;
    return {
      execute: (visit) => askApproval(visit, config, data, request),
      answered: (step, node, answer) => {
        const { rejected } = answer;
        const outputs = approvalOutputs(answer);
        completeNode(step, node, rejected ? { reason: rejected, ...outputs, action: 'reject' } : outputs);
      },
    };
  },
};

function rulesOf(preparation: Preparation): AnswerRules {
  const { config, issue } = preparation;
  const { requiredRole, requiredScope, override } = config;
  for (const [key, value] of Object.entries({ requiredRole, requiredScope }))
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      issue(key, `${key} must be a text`);
  if (requiredRole === undefined && requiredScope === undefined)
    issue('', 'The gate requires `requiredRole` or `requiredScope`');
  const bypasses = settingsOf(preparation).flag('overrideBypassesQuorum') ?? false;
  const overrideRole = override === undefined ? undefined : overrideRoleOf(override, issue);
  return {
    governance: true,
    authRequired: true,
    ...(typeof requiredRole === 'string' && { requiredRole }),
    ...(typeof requiredScope === 'string' && { requiredScope }),
    ...given({ overrideRole }),
    ...(bypasses && { overrideBypassesQuorum: bypasses }),
  };
}

function overrideRoleOf(override: unknown, issue: Preparation['issue']): string | undefined {
  const { requiredRole, audited = true } = isObject(override) ? override : {};
  if (audited !== true) issue('override/audited', 'An override must be audited');
  if (typeof requiredRole === 'string' && requiredRole !== '') return requiredRole;
  issue('override/requiredRole', 'An override requires a role that may use it');
  return;
}

function gateData({ node, config }: Preparation, rules: AnswerRules): JsonObject {
  const { requiredRole, requiredScope, overrideRole } = rules;
  const { title = node.name, description, quorum } = config;
  return {
    ...given({ title, description, requiredRole, requiredScope, quorum }),
    actions: ['accept', 'reject'],
    gateId: node.id,
    requiredApprovals: quorum ?? 1,
    ...(overrideRole !== undefined && {
      override: { requiredRole: overrideRole },
      overrideBypassesQuorum: rules.overrideBypassesQuorum === true,
    }),
  };
}
