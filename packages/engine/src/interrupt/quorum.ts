/** Evaluates votes. Their order does not matter, only the numbers of approvals and rejections. */
import type { JsonObject } from '@gantry/protocol';
import { numberAt, textsAt } from '../payload.ts';
import type { Interrupt, Vote } from './interrupt.ts';

export interface QuorumPolicy {
  readonly required: number;
  /** Either one rejection decides, or more rejections than half of the required votes. */
  readonly rejection: 'single-veto' | 'majority';
  /** The number of possible voters; infinite if anyone may vote. */
  readonly electorate: number;
}

export type Tally = 'open' | 'approved' | 'rejected';

export function policyOf(data: JsonObject): QuorumPolicy {
  const listed = new Set(textsAt(data, 'approversList')).size;
  const openEnded = ['approverRoleRefs', 'approverGroupRefs'].some((key) => textsAt(data, key).length > 0);
  return {
    required: numberAt(data, 'requiredApprovals', 1),
    rejection: data.rejectionPolicy === 'majority' ? 'majority' : 'single-veto',
    electorate: listed > 0 && !openEnded ? listed : Number.POSITIVE_INFINITY,
  };
}

export function tally({ required, rejection, electorate }: QuorumPolicy, votes: readonly Vote[]): Tally {
  const granted = votes.filter((vote) => vote.approve).length;
  const rejected = votes.length - granted;
  if (granted >= required) return 'approved';
  if (rejected > (rejection === 'majority' ? required / 2 : 0)) return 'rejected';
  // The remaining approvers are too few.
  return electorate - rejected < required ? 'rejected' : 'open';
}

export function voteCount({ data, votes }: Interrupt): {
  readonly granted: number;
  readonly rejected: number;
  readonly required: number;
} {
  const granted = votes.filter((vote) => vote.approve).length;
  return { granted, rejected: votes.length - granted, required: policyOf(data).required };
}

/** Whether the deciding answer was given, so that `interrupt.resolved` follows in the same step. */
export function isDecided({ data, votes, rules, conversation }: Interrupt): boolean {
  if (conversation?.closed) return true;
  if (rules?.overrideBypassesQuorum && votes.some(({ overrides }) => overrides)) return true;
  return votes.length > 0 && tally(policyOf(data), votes) !== 'open';
}
