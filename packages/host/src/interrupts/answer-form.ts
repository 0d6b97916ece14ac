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
}

export const questionsIn = ({ data }: Pick<OpenInterrupt, 'data'>): Question[] =>
  (Array.isArray(data.questions) ? data.questions : []).map((item) => {
    const { id, question, schema } = Object(item);
    return { id: String(id), question: String(question), schema: Object(schema) };
  });

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

export function answerIn(view: Pick<OpenInterrupt, 'kind' | 'data'>, fields: FormFields): Json {
  switch (view.kind) {
    case 'approval':
    case 'low-confidence':
      return decision(fields);
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
      return jsonOrText(textIn(fields, 'text'));
  }
}

function decision(fields: FormFields): JsonObject {
  const action = textIn(fields, 'action');
  const text = textIn(fields, 'text');
  const name = Object.hasOwn(TEXT_OF, action) ? TEXT_OF[action]! : 'comment';
  return {
    action,
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
