/**
 * Authorization of answers. It is checked before the answer itself, so that a resolver without permission learns
 * nothing about the interrupt.
 */
import type { Json, JsonObject } from '@gantry/protocol';
import { isObject } from '../json.ts';
import { textsAt } from '../payload.ts';
import type { Refusal } from '../step.ts';
import type { Interrupt, Resolver } from './interrupt.ts';
import { policyOf } from './quorum.ts';

export const RESPOND = 'approvals:respond';

/** Why this resolver may not answer at all. */
export function accessRefusal(
  { rules = {}, kind, data }: Pick<Interrupt, 'rules' | 'kind' | 'data'>,
  by: Resolver,
  asksOverride: boolean,
): Refusal | undefined {
  if (rules.authRequired && !by.authenticated)
    return { code: 'unauthenticated', message: 'This interrupt can only be resolved with an API key.' };
  if (asksOverride && rules.overrideRole !== undefined)
    return by.roles.includes(rules.overrideRole)
      ? undefined
      : forbidden('An override requires another role.', { roleRequired: rules.overrideRole });
  if (rules.requiredScope !== undefined && !by.scopes.includes(rules.requiredScope))
    return forbidden(`Answering requires the scope ${rules.requiredScope}.`, {
      scopeRequired: rules.requiredScope,
    });
  if (rules.requiredRole !== undefined && !by.roles.includes(rules.requiredRole))
    return forbidden(`Answering requires the role ${rules.requiredRole}.`, {
      roleRequired: rules.requiredRole,
    });
  if (kind === 'approval' && namesApprovers(data) && !isApprover(data, by))
    return forbidden('You are not among the approvers of this interrupt.');
  return;
}

const forbidden = (message: string, details?: JsonObject): Refusal =>
  details ? { code: 'forbidden', message, details } : { code: 'forbidden', message };

/** Whether only named approvers may decide. Group and role refs count like the list itself. */
const namesApprovers = (data: JsonObject): boolean =>
  ['approversList', 'approverRoleRefs', 'approverGroupRefs'].some((key) => textsAt(data, key).length > 0);

function isApprover(data: JsonObject, by: Resolver): boolean {
  return (
    textsAt(data, 'approversList').includes(by.principal) ||
    textsAt(data, 'approverRoleRefs').some((role) => by.roles.includes(role)) ||
    textsAt(data, 'approverGroupRefs').some((group) => by.groups?.includes(group))
  );
}

/**
 * The voter of an answer. In a quorum each principal and each link for a person has one vote. Only where the gate
 * says `distinctVoters: false` and names no approvers may a key with `approvals:respond` vote for several people by
 * naming each in `voter`: the vote then has both names, since only the key is proven.
 */
export function voterOf({ data, rules }: Interrupt, by: Resolver, value: Json): string | Refusal {
  const voter = isObject(value) ? value.voter : undefined;
  const { distinctVoters = policyOf(data).required > 1 } = data;
  if (distinctVoters && !by.authenticated && !by.named)
    return forbidden('This gate counts distinct voters: answer with a key, or with a link made for you.');
  if (voter === undefined) return by.principal;
  if (typeof voter !== 'string' || voter === '' || voter.length > 256)
    return forbidden('`voter` must be a name of at most 256 characters.');
  const isPersonal = rules?.governance || data.distinctVoters !== false || namesApprovers(data);
  if (isPersonal || !by.authenticated || !by.scopes.includes(RESPOND))
    return forbidden(
      'You may not vote for others here. Answer without `voter`: a gate counts named voters only with `distinctVoters: false` and without approvers.',
    );
  return `${by.principal}/${voter}`;
}
