import type { Json, RunError } from '@gantry/protocol';
import type { Command } from '../command.ts';
import type { PlanNode } from '../plan.ts';
import type { SchemaCheck } from '../schema.ts';
import type { Refusal, Step } from '../step.ts';
import type { Interrupt } from './interrupt.ts';

/** The refusal of an invalid answer; `path` points into the `resumeValue`. */
export const invalid = (path: string, message: string): Refusal => ({
  code: 'validation_error',
  message: `Invalid answer: ${message}`,
  details: { path: `/resumeValue${path}`, problem: message },
});

type Resolve = Extract<Command, { type: 'resolve' }>;

/** Accepts an answer to an interrupt of one kind, or returns why it is refused. */
export type TakeAnswer = (
  step: Step,
  node: PlanNode,
  interrupt: Interrupt,
  command: Resolve,
) => Refusal | undefined;

export const isRefusal = (value: object): value is Refusal => 'code' in value && 'message' in value;

/** A refusal as an error of the node whose own action was refused. */
export const asError = ({ code, message, details }: Refusal): RunError =>
  details ? { code, message, details } : { code, message };

/** Checks a value against a schema that is part of the data. An unusable schema refuses every value. */
export function schemaRefusal(step: Step, schema: Json, value: Json, path: string): Refusal | undefined {
  const check: SchemaCheck | string = step.plan.compileSchema(schema);
  if (typeof check === 'string') return invalid(path, `its schema cannot be used (${check}).`);
  const problem = check(value);
  return problem && invalid(`${path}${problem.path}`, `${problem.message}.`);
}
