/** Describes open interrupts for people: the question, the permission to answer, the votes so far, the deadline. */
import { type InterruptKind, wordsOf } from '@gantry/protocol';
import { type Action, post, type Wait } from '../explain.ts';
import { isObject } from '../json.ts';
import { textAt, textsAt } from '../payload.ts';
import type { Run } from '../run.ts';
import { inTime } from '../time-text.ts';
import { questionsOf } from './clarification.ts';
import type { Interrupt } from './interrupt.ts';
import { policyOf, voteCount } from './quorum.ts';

export function interruptWait(nodeId: string, interrupt: Interrupt, now: number): Wait {
  const { requestedAt: since, expiresAt } = interrupt;
  const limit = expiresAt === undefined ? '' : ` ${endOf(interrupt)} ${inTime(expiresAt, now)}.`;
  const text = `${nodeId} ${ASKED[interrupt.kind](interrupt)} ${answerersOf(interrupt)}${limit}`;
  return { kind: 'interrupt', nodeId, since, ...(expiresAt !== undefined && { wakesAt: expiresAt }), text };
}

const ASKED: { readonly [Kind in InterruptKind]: (interrupt: Interrupt) => string } = {
  approval: (interrupt) =>
    `waits for approval${quoted(interrupt, 'title')}${votesOf(interrupt)}.${subjectOf(interrupt)}`,
  clarification: ({ data }) => `waits for answers to ${counted(questionsOf(data).length, 'question')}.`,
  'external-event': (interrupt) => `waits for an event from outside${quoted(interrupt, 'eventType')}.`,
  custom: (interrupt) => `waits for an answer${quoted(interrupt, 'customKind')}.`,
  'conversation.start': conversing,
  'conversation.exchange': conversing,
  'conversation.close': conversing,
  'low-confidence': ({ data }) =>
    `waits for someone to ratify a decision: ${textAt(data, 'agentId')} is ${data.observed} sure, and ${data.threshold} is needed.`,
};

function conversing(interrupt: Interrupt): string {
  const turns = (interrupt.conversation?.turns ?? 1) - 1;
  return `is in a conversation${quoted(interrupt, 'prompt')}, ${counted(turns, 'turn')} so far.`;
}

const TEXT_MAX = 200;

const quoted = ({ data }: Interrupt, key: string): string => {
  const text = textAt(data, key);
  return text === '' ? '' : ` "${text.slice(0, TEXT_MAX)}"`;
};

/** What is approved: the description and the content, in words. */
function subjectOf({ data }: Interrupt): string {
  const lines = data.artifactData === undefined ? [] : wordsOf(data.artifactData).map(trimmed);
  const content = lines.join(', ').replaceAll(':, ', ': ');
  const texts = [textAt(data, 'description'), content].filter((text) => text !== '');
  if (texts.length === 0) return '';
  // A description is often a sentence with its own full stop
  const words = texts.map((text) => text.slice(0, TEXT_MAX).replace(/[.;\s]+$/, '')).join('; ');
  return ` It is about: ${words}.`;
}

const trimmed = (line: string): string => line.trim();

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function votesOf(interrupt: Interrupt): string {
  const { rejection } = policyOf(interrupt.data);
  const { granted, rejected, required } = voteCount(interrupt);
  if (required === 1) return '';
  const veto = rejection === 'majority' ? 'a majority of rejections ends it' : 'one rejection ends it';
  const votes = `${granted} of ${required} approvals are in, ${counted(rejected, 'rejection')}`;
  return `: ${votes}${commentsOf(interrupt)}; ${veto}`;
}

function commentsOf({ votes }: Interrupt): string {
  const said = votes.flatMap(({ voter, comment = '' }) =>
    comment === '' ? [] : [`${voter}: "${comment.slice(0, TEXT_MAX)}"`],
  );
  return said.length === 0 ? '' : ` (${said.slice(0, NAMES_MAX).join(', ')})`;
}

function endOf({ kind, memo }: Interrupt): string {
  // Pack code is notified of the timeout, and decides itself.
  if (memo?.packKey !== undefined) return 'It goes on';
  if (kind === 'approval') return 'It is rejected';
  return kind.startsWith('conversation.') ? 'It is closed' : 'It fails';
}

const NAMES_MAX = 10;

function answerersOf({ data, rules = {}, kind }: Interrupt): string {
  const { requiredRole, requiredScope, overrideRole, authRequired } = rules;
  const needs = [
    ...(requiredRole === undefined ? [] : [`the role ${requiredRole}`]),
    ...(requiredScope === undefined ? [] : [`the scope ${requiredScope}`]),
  ].join(' and ');
  const override = overrideRole === undefined ? '' : ` The role ${overrideRole} may override it.`;
  if (needs !== '') return `Answering requires ${needs}.${override}`;
  const named = kind === 'approval' ? namesOf(data) : [];
  if (named.length > 0) return `Only ${named.slice(0, NAMES_MAX).join(', ')} may answer.`;
  const token = authRequired ? '; a link alone is not enough' : '';
  return `Answering requires the scope approvals:respond${token}.`;
}

const namesOf = (data: Interrupt['data']): string[] => [
  ...textsAt(data, 'approversList'),
  ...textsAt(data, 'approverRoleRefs').map((role) => `the role ${role}`),
  ...textsAt(data, 'approverGroupRefs').map((group) => `the group ${group}`),
];

const ACTIONS_MAX = 20;

/** Actions that answer the open interrupts. */
export function resolveActions(run: Run): Action[] {
  const open = [...run.interrupts].slice(0, ACTIONS_MAX);
  return open.map(([nodeId, { kind, data }]) => {
    const actions = isObject(data) ? textsAt(data, 'actions') : [];
    const choice = kind === 'approval' && actions.length > 0 ? ` (${actions.join(', ')})` : '';
    const path = `/v1/runs/${run.facts.runId}/interrupts/${encodeURIComponent(nodeId)}`;
    return post('resolve', path, `Answer ${nodeId}${choice}.`);
  });
}
