/** Converts the fields of the page to the value that resolves an interrupt. */
import type { FormFields } from '@gantry/http';
import {
  invalid,
  type Json,
  type JsonObject,
  type OpenInterrupt,
  OpenwopError,
  readJsonText,
} from '@gantry/protocol';

export interface Question {
  readonly id: string;
  readonly question: string;
  readonly schema: JsonObject;
  readonly isOptional?: boolean;
}

export const questionsIn = ({ data }: Pick<OpenInterrupt, 'data'>): Question[] =>
  (Array.isArray(data.questions) ? data.questions : []).map((item) => {
    const { id, question, schema } = Object(item);
    return { id: String(id), question: String(question), schema: Object(schema) };
  });

/** Fields for a schema of an object with plain members, such as the answer of a reviewer; else none. */
export function membersIn({ resumeSchema = {} }: Pick<OpenInterrupt, 'resumeSchema'>): Question[] {
  const members = Object.entries(Object(resumeSchema.properties)).map(([id, schema]) => ({
    id,
    question: id,
    schema: Object(schema),
    isOptional: !(Array.isArray(resumeSchema.required) && resumeSchema.required.includes(id)),
  }));
  return members.every(({ schema }) => choicesOf(schema) || PLAIN.has(schema.type)) ? members : [];
}

const PLAIN = new Set<unknown>(['string', 'number', 'integer']);

/** Ids of the assets that a gate of a pack lists for a choice. */
export function assetsIn({ data }: Pick<OpenInterrupt, 'data'>): { id: string; label: string }[] {
  const { availableAssets } = Object(data.metadata);
  return (Array.isArray(availableAssets) ? availableAssets : []).flatMap((asset) => {
    if (typeof asset === 'string') return [{ id: asset, label: asset }];
    const { id, assetId = id, name, title = name, label = title } = Object(asset);
    return typeof assetId === 'string' ? [{ id: assetId, label: String(label ?? assetId) }] : [];
  });
}

/** The field name of an answer. Ids cannot be used: authors choose them, and they may be any text. */
export const answerField = (position: number): string => `answer-${position}`;

const textIn = (fields: FormFields, name: string): string => {
  const value = Object.hasOwn(fields, name) ? fields[name] : '';
  return typeof value === 'string' ? value : '';
};

/** The member that gets the text beside the buttons, by the button that was pressed. */
const TEXT_OF: Readonly<Record<string, string>> = {
  accept: 'comment',
  'edit-accept': 'comment',
  reject: 'reason',
  refine: 'refineFeedback',
  ask: 'question',
};

type Asked = Pick<OpenInterrupt, 'kind' | 'data' | 'resumeSchema'>;

export function answerIn(view: Asked, fields: FormFields): Json {
  switch (view.kind) {
    case 'approval':
    case 'low-confidence':
      return decision(view, fields);
    case 'clarification':
      return {
        answers: Object.fromEntries(
          questionsIn(view).map(({ id, schema }, position) => [
            id,
            typed(textIn(fields, answerField(position)), schema),
          ]),
        ),
      };
    case 'conversation.exchange':
      return { operation: 'exchange', turn: { content: textIn(fields, 'text') } };
    default:
      return membersIn(view).length > 0 ? membersOf(view, fields) : jsonOrText(textIn(fields, 'text'));
  }
}

/** Members that were left empty are absent. */
const membersOf = (view: Asked, fields: FormFields): JsonObject =>
  Object.fromEntries(
    membersIn(view).flatMap(({ id, schema }, position) => {
      const text = textIn(fields, answerField(position));
      return text === '' ? [] : [[id, typed(text, schema)]];
    }),
  );

function decision(view: Asked, fields: FormFields): JsonObject {
  const action = textIn(fields, 'action');
  const text = textIn(fields, 'text');
  const name = Object.hasOwn(TEXT_OF, action) ? TEXT_OF[action]! : 'comment';
  const asset = assetsIn(view)[Number(textIn(fields, 'asset') || Number.NaN)];
  return {
    action,
    ...(asset && action === 'accept' && { feedback: asset.id }),
    ...(text !== '' && { [name]: text }),
    ...(action === 'edit-accept' && { editedArtifactData: json(textIn(fields, 'edited')) }),
  };
}

/** If the schema requires a string, `7` is a string. */
function typed(text: string, schema: JsonObject): Json {
  const choices = choicesOf(schema);
  if (choices) return text === '' ? null : (choices[Number(text)] ?? null);
  return schema.type === 'string' ? text : jsonOrText(text);
}

/** The choices of the schema. The field then contains the position. */
export function choicesOf({ enum: choices, type }: JsonObject): Json[] | undefined {
  if (Array.isArray(choices)) return choices;
  return type === 'boolean' ? [true, false] : undefined;
}

function jsonOrText(text: string): Json {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return json(text);
}

function json(text: string): Json {
  try {
    const { value, problem } = readJsonText(text);
    if (!problem) return value;
    throw invalid(`${problem.path || 'The value'} ${problem.problem}.`);
  } catch (error) {
    throw error instanceof OpenwopError ? error : invalid('The edited version is not valid JSON.');
  }
}
