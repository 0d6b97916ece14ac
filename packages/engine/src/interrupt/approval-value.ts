/** Normalizes the answer of an approver. */
import { type ApprovalAction, type Json, type JsonObject, misfit, RefineFeedback } from '@gantry/protocol';
import { isObject } from '../json.ts';
import { textsAt } from '../payload.ts';
import type { Refusal } from '../step.ts';
import type { Interrupt } from './interrupt.ts';
import { invalid } from './refusal.ts';

export interface ApprovalAnswer {
  readonly action: ApprovalAction | 'override';
  /** The other fields of the answer. */
  readonly fields: JsonObject;
}

/** Action names of older clients and of the governance gate. */
const ALIASES: Readonly<Record<string, ApprovalAnswer['action']>> = {
  approve: 'accept',
  approved: 'accept',
  granted: 'accept',
  rejected: 'reject',
  edit: 'edit-accept',
  overridden: 'override',
};
const ACTIONS: readonly string[] = ['accept', 'reject', 'refine', 'edit-accept', 'ask', 'override'];
const TEXTS = ['feedback', 'comment', 'reason', 'question'];
const TEXT_MAX = 16_384;

export const asksOverride = (value: Json): boolean => actionIn(value) === 'override';

export function readApproval({ data, rules }: Interrupt, value: Json): ApprovalAnswer | Refusal {
  const said = actionIn(value);
  const offered = textsAt(data, 'actions');
  if (said === undefined)
    return invalid('/action', `an approval needs an \`action\`: ${offered.join(', ')}.`);
  const read = fieldsOf(isObject(value) ? value : {});
  if ('code' in read) return read;
  const { fields } = read;
  const action = wordOf(value) === 'rejected' && fields.feedback ? laterRefined(offered, fields) : said;
  const isOffered = action === 'override' ? rules?.overrideRole !== undefined : offered.includes(action);
  if (!isOffered) return invalid('/action', `\`${action}\` is not offered; choose ${offered.join(', ')}.`);
  return missingIn(action, fields) ?? { action, fields: action === 'reject' ? reasoned(fields) : fields };
}

/** Clients send the reason of a rejection under three names; everything else reads `reason`. */
function reasoned(fields: JsonObject): JsonObject {
  const reason = [fields.reason, fields.feedback, fields.comment].find((text) => text !== undefined);
  return reason === undefined ? fields : { ...fields, reason };
}

function wordOf(value: Json): Json | undefined {
  return isObject(value) ? (value.action ?? value.decision ?? value.status) : value;
}

function actionIn(value: Json): ApprovalAnswer['action'] | undefined {
  const word = wordOf(value);
  if (typeof word !== 'string') return;
  if (ACTIONS.includes(word)) return word as ApprovalAnswer['action'];
  return Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
}

/** Older clients reject with feedback to request a refinement. */
function laterRefined(offered: readonly string[], fields: JsonObject): 'refine' | 'reject' {
  if (!offered.includes('refine')) return 'reject';
  fields.refineFeedback ??= { scope: 'whole', text: fields.feedback! };
  return 'refine';
}

function fieldsOf(value: JsonObject): { fields: JsonObject } | Refusal {
  const fields: JsonObject = {};
  for (const name of TEXTS) {
    const text = value[name];
    if (text === undefined) continue;
    if (typeof text !== 'string' || text.length > TEXT_MAX)
      return invalid(`/${name}`, `\`${name}\` must be a text of at most ${TEXT_MAX} characters.`);
    fields[name] = text;
  }
  const { refineFeedback, editedArtifactData } = value;
  if (editedArtifactData !== undefined) fields.editedArtifactData = editedArtifactData;
  if (refineFeedback === undefined) return { fields };
  const feedback =
    typeof refineFeedback === 'string' ? { scope: 'whole', text: refineFeedback } : refineFeedback;
  const problem = misfit(RefineFeedback, feedback);
  if (problem) return invalid(`/refineFeedback${problem.path}`, `${problem.message}.`);
  fields.refineFeedback = feedback;
  return { fields };
}

function missingIn(action: ApprovalAnswer['action'], fields: JsonObject): Refusal | undefined {
  const needs: Partial<Record<ApprovalAnswer['action'], string>> = {
    refine: 'refineFeedback',
    'edit-accept': 'editedArtifactData',
    ask: 'question',
    override: 'reason',
  };
  const field = needs[action];
  if (field === undefined || (fields[field] !== undefined && fields[field] !== '')) return;
  return invalid(`/${field}`, `\`${action}\` needs \`${field}\`.`);
}
