import type { Json, JsonObject } from '@gantry/protocol';
import { isObject, isReservedName } from '../json.ts';
import { close } from './close.ts';
import { invalid, schemaRefusal, type TakeAnswer } from './refusal.ts';

/** Every question needs an answer, and each answer must match the schema of its question. */
export const answerClarification: TakeAnswer = (step, node, interrupt, { by, resumeValue }) => {
  const questions = questionsOf(interrupt.data);
  const sent = sentAnswers(isObject(resumeValue) ? resumeValue.answers : undefined, questions);
  if (!sent)
    return invalid('/answers', '`answers` must be an object, or a list in the order of the questions.');
  const answers: JsonObject = {};
  for (const question of questions) {
    const path = `/answers/${question.id}`;
    const answer = sent.get(question.id);
    if (answer === undefined) return invalid(path, `the question ${question.id} has no answer.`);
    const refusal = question.schema && schemaRefusal(step, question.schema, answer, path);
    if (refusal) return refusal;
    answers[question.id] = answer;
    sent.delete(question.id);
  }
  const [unknown] = sent.keys();
  if (unknown !== undefined)
    return invalid('/answers', 'there are answers to questions that were not asked.');
  close(step, node, { interrupt, value: { answers }, by: by.principal });
  return;
};

interface Question {
  readonly id: string;
  readonly schema?: JsonObject;
}

export function questionsOf(data: JsonObject): Question[] {
  const questions: Json[] = Array.isArray(data.questions) ? data.questions : [];
  return questions.flatMap((question) => {
    if (!isObject(question) || typeof question.id !== 'string' || isReservedName(question.id)) return [];
    return [{ id: question.id, ...(isObject(question.schema) && { schema: question.schema }) }];
  });
}

/** The documented forms `{q1: "blue"}` and `[{id: "q1", answer: "blue"}]`, and `["blue"]`, by the order of questions. */
function sentAnswers(
  answers: Json | undefined,
  questions: readonly Question[],
): Map<string, Json> | undefined {
  if (isObject(answers)) return new Map(Object.entries(answers));
  if (!Array.isArray(answers)) return;
  const sent = new Map<string, Json>();
  for (const [position, item] of answers.entries()) {
    const { id = questions[position]?.id, answer } = isObject(item) ? item : { answer: item };
    if (typeof id !== 'string' || answer === undefined) return;
    sent.set(id, answer);
  }
  return sent;
}
