/** The approvals of pack code: what the person sees and may do, and the words in which the pack reads the decision. */
import { APPROVAL_ACTIONS, given, type Json, type JsonObject } from '@gantry/protocol';
import { isObject } from '../json.ts';
import { objectAt, textAt, textsAt } from '../payload.ts';
import type { AskingNode } from './pack-interrupt.ts';
import { bodyOf, titleOf } from './pack-request.ts';

const QUORUM_MAX = 1_000;

/** Members of a request with a place of their own in the interrupt. All others are shown as metadata. */
const PLACED = new Set(
  'kind reason key resumeKey profile prompt title description body actions approvers quorum timeoutMs deadlineSeconds artifactId artifactType artifactData artifact metadata'.split(
    ' ',
  ),
);

/** What a person does for each choice of a gate that offers its own actions. */
const CHOICES: Readonly<Record<string, string>> = {
  'use-existing': 'Approve with one of the assets to use it.',
  'create-new': 'Approve without an asset to create a new one.',
  skip: 'Reject to skip this.',
};

export function approvalData(request: JsonObject, { nodeId, config, inputs }: AskingNode): JsonObject {
  const { artifactData = request.artifact ?? inputs.artifact } = request;
  const approvers = textsAt(request, 'approvers');
  const hints = textsAt(request, 'actionIds').map((id) => CHOICES[id] ?? id);
  const description = [bodyOf(request), ...hints].filter((line) => line !== '').join('\n');
  const metadata = metadataOf(request);
  return {
    artifactId: textAt(request, 'artifactId') || nodeId,
    artifactType: textAt(request, 'artifactType') || textAt(config, 'artifactType') || 'pack.request',
    title: titleOf(request, textAt(config, 'title') || 'Approve what the node proposes'),
    ...(description !== '' && { description }),
    actions: actionsOf(request, artifactData),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...given({ artifactData }),
    ...(approvers.length > 0 && { approversList: [...approvers] }),
    ...given({ requiredApprovals: quorumOf(request) }),
  };
}

function metadataOf(request: JsonObject): JsonObject {
  const others = Object.entries(request).filter(([name, value]) => !PLACED.has(name) && value !== null);
  return { ...Object.fromEntries(others), ...objectAt(request, 'metadata') };
}

function actionsOf(request: JsonObject, artifactData: Json | undefined): string[] {
  const known: readonly string[] = APPROVAL_ACTIONS;
  const listed = [...new Set(textsAt(request, 'actions').filter((action) => known.includes(action)))];
  const offered = listed.length > 0 ? listed : unlistedActions(request, artifactData);
  // Others would have approved another version
  return quorumOf(request) === undefined ? offered : offered.filter((action) => action !== 'edit-accept');
}

function unlistedActions(request: JsonObject, artifactData: Json | undefined): string[] {
  const choices = textsAt(request, 'actionIds');
  if (choices.length > 0) return ['accept', ...(choices.includes('skip') ? ['reject'] : []), 'ask'];
  // Such a gate reads two decisions; an edited version would reach it only if it sent the first one
  if (isTwofold(request) && artifactData === undefined)
    return APPROVAL_ACTIONS.filter((action) => action !== 'edit-accept');
  return [...APPROVAL_ACTIONS];
}

/** The dialect that says `kind` knows only approval and rejection. */
const isTwofold = (request: JsonObject): boolean => textAt(request, 'kind') !== '';

function quorumOf(request: JsonObject): number | undefined {
  const quorum = Number(request.quorum);
  const approvers = textsAt(request, 'approvers').length;
  return Number.isInteger(quorum) && quorum > 1 ? Math.min(quorum, approvers || QUORUM_MAX) : undefined;
}

/** By the words of the request: its own actions, two decisions, or the actions of the protocol. */
export type DecisionWords = 'choices' | 'twofold' | 'actions';

export const decisionWords = (request: JsonObject): DecisionWords =>
  textsAt(request, 'actionIds').length > 0 ? 'choices' : isTwofold(request) ? 'twofold' : 'actions';

const WORDS: { readonly [Words in DecisionWords]?: readonly [yes: string, no: string] } = {
  choices: ['approved', 'rejected'],
  twofold: ['approve', 'reject'],
};

/** `fields` are those of the answer; `words` comes from the request. */
export function approvalAnswer(
  fields: JsonObject,
  words: Json | undefined,
  by: string,
  at: string,
): JsonObject {
  const action = textAt(fields, 'action');
  const approved = action === 'accept' || action === 'edit-accept';
  const [yes, no] = WORDS[words as DecisionWords] ?? [action, action];
  const text = ['feedback', 'comment', 'reason'].map((name) => textAt(fields, name)).find((said) => said);
  const said = text ?? textAt(objectAt(fields, 'refineFeedback') ?? {}, 'text');
  const editedArtifact = fields.editedArtifactData;
  return {
    // The feedback of a choice is the chosen id, so a comment must not become one
    ...(said !== '' && (words === 'choices' ? { comment: said } : { comment: said, feedback: said })),
    ...fields,
    decision: approved ? yes : no,
    approved,
    decidedBy: by,
    decidedAt: at,
    ...given({ editedArtifact }),
  };
}

/** Packs read `feedback` and `editedArtifact`, so their gates also accept answers in these words. */
export function inProtocolWords(value: Json): Json {
  if (!isObject(value)) return value;
  const { editedArtifact, ...fields } = value;
  const text = textAt(fields, 'feedback') || textAt(fields, 'comment');
  return {
    ...(editedArtifact !== undefined && { editedArtifactData: editedArtifact }),
    ...(text !== '' && (fields.action ?? fields.decision) === 'refine' && { refineFeedback: text }),
    ...fields,
  };
}
