/** Checks the interrupts of nodes when their workflow is compiled. */
import {
  ApprovalData,
  ClarificationData,
  CustomData,
  ExternalEventData,
  type InterruptKind,
  type JsonObject,
  LowConfidenceData,
  misfit,
} from '@gantry/protocol';
import { isObject, isReservedName } from '../json.ts';
import type { Preparation } from '../nodes/node-type.ts';
import { textsAt } from '../payload.ts';
import { questionsOf } from './clarification.ts';
import { policyOf } from './quorum.ts';

/** Kinds of interrupts whose data the author can define. */
export const ASKABLE = {
  approval: ApprovalData,
  clarification: ClarificationData,
  'external-event': ExternalEventData,
  custom: CustomData,
  'low-confidence': LowConfidenceData,
} as const satisfies { [Kind in InterruptKind]?: unknown };
export type AskableKind = keyof typeof ASKABLE;

/** Reports everything that would make the interrupt unanswerable. `key` is the location of the data. */
export function checkData(preparation: Preparation, key: string, kind: AskableKind, data: JsonObject): void {
  const problem = misfit(ASKABLE[kind], data);
  if (problem) preparation.issue(`${key}${problem.path}`.replace(/^\//, ''), problem.message);
  else if (kind === 'approval') checkApproval(preparation, key, data);
  else if (kind === 'clarification') checkQuestions(preparation, key, data);
}

function checkApproval({ issue }: Preparation, key: string, data: JsonObject): void {
  const { required, electorate } = policyOf(data);
  if (electorate < required)
    issue(key, `${required} approvals are required, but only ${electorate} approvers are named`);
  if (required > 1 && textsAt(data, 'actions').includes('edit-accept'))
    issue(key, 'edit-accept requires a single approval: others would have approved another version');
}

function checkQuestions({ issue, schema }: Preparation, key: string, data: JsonObject): void {
  const ids = new Set<string>();
  const questions = Array.isArray(data.questions) ? data.questions.filter(isObject) : [];
  questions.forEach(({ id }, position) => {
    const path = `${key}/questions/${position}/id`;
    if (typeof id !== 'string') return;
    if (isReservedName(id)) issue(path, `${id} is a reserved name`);
    if (ids.has(id)) issue(path, `${id} is used more than once`);
    ids.add(id);
  });
  questionsOf(data).forEach((question, position) => {
    if (question.schema) schema(`${key}/questions/${position}/schema`, question.schema);
  });
}

/** A year: longer than a reasonable wait, and far below the maximum date. */
const TIMEOUT_MS_MAX = 366 * 24 * 60 * 60 * 1_000;

/** How long the node may wait for its answer; undefined means forever. */
export function timeoutOf({ config, issue }: Preparation, key: string, unitMs = 1): { timeoutMs?: number } {
  const value = config[key];
  if (value === undefined || value === null) return {};
  if (typeof value === 'number' && value >= 0 && value * unitMs <= TIMEOUT_MS_MAX)
    return { timeoutMs: Math.ceil(value * unitMs) };
  issue(key, `${key} must be a number from 0 to ${TIMEOUT_MS_MAX / unitMs}`);
  return {};
}

/** A schema of the author that answers must match, in addition to the rules of their kind. */
export function resumeSchemaOf({ config, issue, schema }: Preparation): { resumeSchema?: JsonObject } {
  const { resumeSchema } = config;
  if (resumeSchema === undefined) return {};
  if (!isObject(resumeSchema)) {
    issue('resumeSchema', 'resumeSchema must be a JSON Schema');
    return {};
  }
  return schema('resumeSchema', resumeSchema) ? { resumeSchema } : {};
}
