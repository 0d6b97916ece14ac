/** Describes an interrupt that a run waits for: the question, the approvers, the commands. Pure. */
import type { StreamEvent } from '@gantry/client';
import { type Json, type JsonObject, type OpenInterrupt, voteInWords, wordsOf } from '@gantry/protocol';
import { duration, printable, type Style } from './style.ts';
import { shellWord } from './values.ts';

export type Interrupt = Pick<
  OpenInterrupt,
  'runId' | 'nodeId' | 'interruptId' | 'kind' | 'data' | 'deadline' | 'votes'
>;

const LINE_MAX = 400;

const textAt = (value: object, name: string): string | undefined => {
  const found = (value as JsonObject)[name];
  return typeof found === 'string' && found !== '' ? found : undefined;
};

export const textsAt = (value: object, name: string): string[] => {
  const found = (value as JsonObject)[name];
  return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
};

/** A value on one line, truncated if it would fill the screen. */
export function oneLine(value: unknown): string {
  const text = printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
  return text.length <= LINE_MAX ? text : `${text.slice(0, LINE_MAX)}…`;
}

const LINES_MAX = 20;

const shortened = (lines: string[]): string[] => {
  const left = lines.length - LINES_MAX;
  const more = left > 0 ? [`… (${left} lines more)`] : [];
  return [...lines.slice(0, LINES_MAX).map(oneLine), ...more];
};

/** The interrupt of an `interrupt.requested` event. */
export function interruptIn({ runId, nodeId, payload }: StreamEvent): Interrupt | undefined {
  const { kind, data, interruptId, expiresAt } = payload;
  if (typeof kind !== 'string' || typeof interruptId !== 'string' || nodeId === undefined) return undefined;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const deadline = typeof expiresAt === 'string' ? { deadline: expiresAt } : {};
  return { runId, nodeId, interruptId, kind, data, ...deadline };
}

/** The question, by kind: the first line is the heading. */
const ASKED: Readonly<Record<string, (data: JsonObject) => string[]>> = {
  approval: (data) => [
    textAt(data, 'title') ?? 'An approval',
    ...[textAt(data, 'description')].filter((text) => text !== undefined),
    ...(data.artifactData === undefined ? [] : shortened(wordsOf(data.artifactData))),
  ],
  clarification: (data) => [
    'Questions',
    ...questionsOf(data).map(({ id, question }) => `${id}: ${oneLine(question)}`),
  ],
  'external-event': (data) => [
    `The event ${textAt(data, 'eventType') ?? ''} from outside`,
    `with ${oneLine(data.correlation)}`,
  ],
  'conversation.exchange': (data) => [textAt(data, 'prompt') ?? 'A conversation'],
  'low-confidence': (data) => [
    `${textAt(data, 'agentId') ?? 'An agent'} is not confident enough: ${data.observed} of ${data.threshold}`,
    `It decided ${oneLine(data.decision)}`,
  ],
  custom: (data) => [
    textAt(data, 'customKind') ?? 'A question',
    ...(data.payload === undefined ? [] : [oneLine(data.payload)]),
  ],
};

export interface Asked {
  readonly id: string;
  readonly question: string;
  readonly schema?: Json | undefined;
}

export function questionsOf(data: object): Asked[] {
  const { questions } = data as JsonObject;
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((item) => {
    const { id, question = '', schema } = Object(item);
    return typeof id === 'string' ? [{ id, question: String(question), schema }] : [];
  });
}

/** The named approvers; without names every key with the scope may answer. */
export function approversOf(data: object): string {
  const audience: object = Object((data as JsonObject).audience);
  const named = [
    ...textsAt(data, 'approversList'),
    ...textsAt(audience, 'subjects'),
    ...[...textsAt(data, 'approverRoleRefs'), ...textsAt(audience, 'roles')].map((name) => `role ${name}`),
    ...[...textsAt(data, 'approverGroupRefs'), ...textsAt(audience, 'groups')].map((name) => `group ${name}`),
  ];
  return named.length === 0 ? 'any key with the scope approvals:respond' : named.join(', ');
}

/** The interrupt as lines; the first is its heading. */
export function renderInterrupt(interrupt: Interrupt, now: number, style: Style): string[] {
  const { kind, data, votes = [], deadline } = interrupt;
  const [heading = kind, ...more] = (ASKED[kind] ?? (() => [kind, oneLine(data)]))(data as JsonObject);
  const required = data.requiredApprovals;
  const isQuorum = typeof required === 'number' && required > 1;
  const progress = isQuorum ? [votesLine(votes, required)] : [];
  const end = deadline === undefined ? [] : [deadlineLine(deadline, now)];
  return [
    style('bold', printable(heading)),
    ...[...more, ...progress, `May answer: ${approversOf(data)}`, ...end].map(
      (line) => `  ${printable(line)}`,
    ),
  ];
}

function votesLine(votes: NonNullable<Interrupt['votes']>, required: number): string {
  const granted = votes.filter(({ approve }) => approve).length;
  const voters = votes.map(voteInWords).join(', ');
  return `${granted} of ${required} approvals${voters === '' ? '' : `: ${voters}`}`;
}

function deadlineLine(deadline: string, now: number): string {
  const leftMs = Date.parse(deadline) - now;
  return leftMs > 0 ? `Rejected automatically in ${duration(leftMs)}` : 'It has expired';
}

/** The command for each action of an approval; TEXT and JSON are placeholders. */
const ACTIONS: Readonly<Record<string, (at: string) => string>> = {
  accept: (at) => `gantry approve ${at}`,
  reject: (at) => `gantry reject ${at} --reason TEXT`,
  refine: (at) => `gantry answer ${at} action=refine refineFeedback=TEXT`,
  'edit-accept': (at) => `gantry answer ${at} action=edit-accept editedArtifactData=JSON`,
  ask: (at) => `gantry answer ${at} action=ask question=TEXT`,
};

/** The commands that answer it, one per line. */
export function howToAnswer({ runId, nodeId, kind, data }: Interrupt): string[] {
  const at = `${shellWord(runId)} ${shellWord(nodeId)}`;
  switch (kind) {
    case 'approval':
      return textsAt(data, 'actions').flatMap((action) => ACTIONS[action]?.(at) ?? []);
    case 'low-confidence':
      return [`gantry approve ${at}`, `gantry reject ${at} --reason TEXT`];
    case 'clarification':
      return [
        `gantry answer ${at} ${questionsOf(data)
          .map(({ id }) => `${shellWord(id)}=TEXT`)
          .join(' ')}`,
      ];
    case 'conversation.exchange':
      return [`gantry answer ${at} content=TEXT`, `gantry answer ${at} outcome=JSON`];
    default:
      return [`gantry answer ${at} NAME=VALUE`, `gantry answer ${at} --json JSON`];
  }
}
