/** Finds gates that no key of the tenant can answer: they require a role, a group or a scope that no key has. */

import type { DefinitionWarning } from '@gantry/engine';
import { isLiveKey } from '@gantry/http';
import type { WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';

const GATES = ['core.approvalGate', 'core.openwop.governance.approvalGate'];

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');

/** For each requirement of the gate, the scopes of which one is needed. */
function demandsOf(config: Readonly<Record<string, unknown>>): string[][] {
  const named = [
    ...textsOf(config.approverRoleRefs).map((role) => `role:${role}`),
    ...textsOf(config.approverGroupRefs).map((group) => `group:${group}`),
  ];
  // People in the list may answer by a link
  const approvers = textsOf(config.approversList).length > 0 ? [] : named;
  const role = textsOf(config.requiredRole).map((name) => `role:${name}`);
  return [approvers, role, textsOf(config.requiredScope)].filter((scopes) => scopes.length > 0);
}

export async function unanswerableGates(
  records: Pick<Store['records'], 'keys'>,
  { tenant, now }: { readonly tenant: string; readonly now: number },
  { nodes }: Pick<WorkflowDefinition, 'nodes'>,
): Promise<DefinitionWarning[]> {
  const gates = nodes
    .map(({ typeId, config }, at) => ({ at, demands: GATES.includes(typeId) ? demandsOf(config) : [] }))
    .filter(({ demands }) => demands.length > 0);
  if (gates.length === 0) return [];
  const held = (await records.keys(tenant)).filter((key) => isLiveKey(key, now)).map(({ scopes }) => scopes);
  const canAnswer = (demands: readonly string[][]): boolean =>
    held.some((scopes) => demands.every((demand) => demand.some((scope) => scopes.includes(scope))));
  return gates
    .filter(({ demands }) => !canAnswer(demands))
    .map(({ at, demands }) => {
      const asked = demands.map((demand) => demand.join(' or ')).join(', and ');
      const message = `No key of this tenant could answer the gate: it takes one with ${asked}`;
      return { path: `/nodes/${at}/config`, message };
    });
}
