import { given, isoTime, type Json, type JsonObject } from '@gantry/protocol';
import { editRefusal } from '../artifacts/artifact.ts';
import { own } from '../json.ts';
import { maskOutputs } from '../mask.ts';
import type { PlanNode } from '../plan.ts';
import { emitCaused, emitNode, type Refusal, type Step } from '../step.ts';
import { changeVariables } from '../variable-writes.ts';
import { type ApprovalAnswer, readApproval } from './approval-value.ts';
import { voterOf } from './authorize.ts';
import { close } from './close.ts';
import type { Interrupt, Vote } from './interrupt.ts';
import { inProtocolWords } from './pack-approval.ts';
import { policyOf, tally } from './quorum.ts';
import { isRefusal, type TakeAnswer } from './refusal.ts';

/** One answer to an approval. */
interface Ballot {
  readonly step: Step;
  readonly node: PlanNode;
  readonly interrupt: Interrupt;
  readonly answer: ApprovalAnswer;
  readonly voter: string;
}

export const answerApproval: TakeAnswer = (step, node, interrupt, { by, resumeValue }) => {
  const voter = voterOf(interrupt, by, resumeValue);
  if (typeof voter !== 'string') return voter;
  const isOfPack = interrupt.memo?.packKey !== undefined;
  const answer = readApproval(interrupt, isOfPack ? inProtocolWords(resumeValue) : resumeValue);
  if (isRefusal(answer)) return answer;
  const ballot = { step, node, interrupt, answer, voter };
  switch (answer.action) {
    case 'ask':
      ask(step, node, voter, answer.fields);
      return;
    case 'edit-accept': {
      const refusal = editRefusal(step, node, answer.fields.editedArtifactData ?? null);
      if (!refusal) decided(step, node, answer, voter);
      return refusal;
    }
    case 'refine':
      decided(step, node, answer, voter);
      return;
    case 'override':
      return override(ballot);
    case 'accept':
    case 'reject':
      return vote(ballot);
  }
};

/**
 * A vote is final: repeating it changes nothing, and it cannot be changed, or the result would depend on the
 * order in which votes arrive.
 */
function vote(ballot: Ballot): Refusal | undefined {
  const { interrupt, answer, voter } = ballot;
  const approve = answer.action === 'accept';
  const earlier = interrupt.votes.find((other) => other.voter === voter);
  if (earlier) return earlier.approve === approve ? undefined : turnedRound(earlier.approve);
  if (policyOf(interrupt.data).required > 1 || interrupt.rules?.governance) record(ballot);
  count(ballot, approve);
  return;
}

const turnedRound = (approved: boolean): Refusal => ({
  code: 'conflict',
  message: `You have already ${approved ? 'approved' : 'rejected'}; a vote cannot be changed.`,
});

function record({ step, node, interrupt, answer: { action, fields }, voter: principal }: Ballot): void {
  const gateId = node.id;
  const said = given({ comment: commentIn(fields, action === 'accept') });
  const sealed = said.comment === undefined ? undefined : said;
  const reason = maskOutputs(step.plan, node, fields).reason;
  if (action === 'reject') {
    emitNode(step, gateId, 'approval.rejected', { gateId, principal, ...given({ reason }) }, sealed);
    return;
  }
  const { required } = policyOf(interrupt.data);
  const granted = interrupt.votes.filter((other) => other.approve).length + 1;
  const payload = { gateId, principal, quorumProgress: { granted, required } };
  emitNode(step, gateId, 'approval.granted', payload, sealed);
  if (required > 1) logComment(step, node, maskOutputs(step.plan, node, said), principal);
}

/** The payload of `approval.granted` is closed, so a comment is an event of its own, caused by the vote. */
function logComment(step: Step, { id: nodeId }: PlanNode, { comment }: JsonObject, principal: string): void {
  if (typeof comment !== 'string') return;
  const fields = { gateId: nodeId, principal };
  const payload = { level: 'info', message: comment, nodeId, fields };
  emitCaused(step, step.run.nextSeq - 1, { type: 'log.appended', nodeId, payload });
}

function commentIn({ comment, reason }: JsonObject, approve: boolean): string | undefined {
  const text = approve ? (comment ?? reason) : reason;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/**
 * An override by a resolver with the required role. It counts as one vote, unless the author lets it bypass the quorum.
 */
function override(ballot: Ballot): Refusal | undefined {
  const { step, node, interrupt, answer, voter: principal } = ballot;
  const earlier = interrupt.votes.find((other) => other.voter === principal);
  const bypasses = interrupt.rules?.overrideBypassesQuorum === true;
  if (earlier && !bypasses) return earlier.approve ? undefined : turnedRound(false);
  const reason = answer.fields.reason!;
  emitNode(step, node.id, 'approval.overridden', { gateId: node.id, principal, reason }, { comment: reason });
  const accepted: ApprovalAnswer = { action: 'accept', fields: { ...answer.fields, overridden: true } };
  if (bypasses) decided(step, node, accepted, principal);
  else count({ ...ballot, answer: accepted }, true);
  return;
}

function count({ step, node, interrupt, answer, voter }: Ballot, approve: boolean): void {
  const policy = policyOf(interrupt.data);
  const vote: Vote = { voter, approve, ...given({ comment: commentIn(answer.fields, approve) }) };
  const votes = [...interrupt.votes, vote];
  const end = tally(policy, votes);
  if (end === 'open') return;
  const approved = end === 'approved';
  const agreeing = votes.filter((other) => other.approve === approved).length;
  const isQuorum = policy.required > 1;
  const by = isQuorum ? `quorum:${agreeing}-of-${policy.required}` : voter;
  const fields = isQuorum ? { ...answer.fields, votes: shownVotes(node, votes) } : answer.fields;
  decided(step, node, { action: approved ? 'accept' : 'reject', fields }, by);
}

const WORDS = ['output', 'votes', 'comment', 'reason', 'feedback'];

/** The votes as part of the answer. Comments are left out if the author marked the words of approvers as sensitive. */
const shownVotes = ({ sensitiveOutputs }: PlanNode, votes: readonly Vote[]): JsonObject[] =>
  votes.map(({ voter, approve, comment }) => ({
    voter,
    approve,
    ...(comment !== undefined && !WORDS.some((name) => sensitiveOutputs.has(name)) && { comment }),
  }));

function decided(step: Step, node: PlanNode, { action, fields }: ApprovalAnswer, by: string): void {
  const interrupt = step.run.interrupts.get(node.id)!;
  const value: JsonObject = { action, ...fields, decidedBy: by, decidedAt: isoTime(step.now) };
  close(step, node, { interrupt, value, by, ...(action === 'reject' && { rejected: 'reject' as const }) });
}

const EXCHANGES_MAX = 50;
const QUESTION_MAX = 4_096;

/** A question keeps the interrupt open. The exchange is stored in a variable for the next round. */
function ask(step: Step, node: PlanNode, askedBy: string, { question }: JsonObject): void {
  const name = `_askExchanges:${node.id}`;
  const earlier: Json | undefined = own(step.run.variables, name);
  const asked = { askedBy, askedAt: isoTime(step.now) };
  const exchange = { question: String(question).slice(0, QUESTION_MAX), ...asked };
  const exchanges = [...(Array.isArray(earlier) ? earlier : []), exchange].slice(-EXCHANGES_MAX);
  changeVariables(step, node, { [name]: exchanges });
}
