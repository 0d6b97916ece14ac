/** Reads the texts and questions of a `ctx.suspend` request, in either dialect. */
import type { Json, JsonObject } from '@gantry/protocol';
import { isObject, isReservedName } from '../json.ts';
import { objectAt, textAt } from '../payload.ts';

const TITLE_MAX = 1_000;
const QUESTIONS_MAX = 100;

/** The two dialects call it `kind` and `reason`. */
export const wordOf = (request: JsonObject): string => textAt(request, 'kind') || textAt(request, 'reason');

/** `prompt` is a text, or has a title and a body. */
export const titleOf = (request: JsonObject, fallback: string): string =>
  (
    textAt(request, 'title') ||
    textAt(request, 'prompt') ||
    textAt(objectAt(request, 'prompt') ?? {}, 'title') ||
    fallback
  ).slice(0, TITLE_MAX);

export const bodyOf = (request: JsonObject): string =>
  textAt(request, 'description') ||
  textAt(request, 'body') ||
  textAt(objectAt(request, 'prompt') ?? {}, 'body');

/** A clarification that a person answers in words; others bring a form or a schema. */
export const isAsking = ({ profile, answerSchema }: JsonObject): boolean =>
  profile === 'openwop-chat' || (profile === undefined && !answerSchema);

/** `isListed`: the questions have no ids of their own, so the pack reads a list of answers in the same order. */
export function questionsOf(request: JsonObject): { questions: Json[]; isListed: boolean } {
  const sent = Array.isArray(request.questions) ? request.questions.slice(0, QUESTIONS_MAX) : [];
  if (sent.length === 0)
    return {
      questions: [{ id: 'answer', question: titleOf(request, 'The node needs an answer.') }],
      isListed: false,
    };
  const ids = new Set(sent.map((each) => (isObject(each) ? textAt(each, 'id') : '')));
  const isNamed = ids.size === sent.length && ![...ids].some((id) => id === '' || isReservedName(id));
  const questions = sent.map((each, position): JsonObject => {
    const id = isNamed && isObject(each) ? textAt(each, 'id') : `q${position + 1}`;
    const schema = isObject(each) ? objectAt(each, 'schema') : undefined;
    const shown = schema ?? (isNamed ? undefined : { type: 'string' });
    return { id, question: questionIn(each) || `Question ${position + 1}`, ...(shown && { schema: shown }) };
  });
  const heading = [titleOf(request, ''), bodyOf(request)].filter((text) => text !== '').join('\n');
  // The data of a clarification has no other place for it
  if (heading !== '') questions[0]!.question = `${heading}\n${questions[0]!.question}`;
  return { questions, isListed: !isNamed };
}

const questionIn = (each: Json): string =>
  isObject(each) ? textAt(each, 'question') : typeof each === 'string' ? each : JSON.stringify(each);
