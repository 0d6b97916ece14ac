import type { Json, RunError } from '@gantry/protocol';
import type { Command } from '../command.ts';
import type { PlanNode } from '../plan.ts';
import type { SchemaCheck } from '../schema.ts';
import type { Refusal, Step } from '../step.ts';
import type { Interrupt } from './interrupt.ts';

/** An answer that does not fit; `path` points into the `resumeValue`. */
export const invalid = (path: string, message: string): Refusal => ({
  code: 'validation_error',
  message: `Invalid answer: ${message}`,
  details: { path: `/resumeValue${path}`, problem: message },
});

type Resolve = Extract<Command, { type: 'resolve' }>;

/** Takes what someone answers to an interrupt of one kind, or says why it cannot count. */
export type TakeAnswer = (
  step: Step,
  node: PlanNode,
  interrupt: Interrupt,
  command: Resolve,
) => Refusal | undefined;

export const isRefusal = (value: object): value is Refusal => 'code' in value && 'message' in value;

/** A refusal of something that the node itself wanted to do. */
export const asError = ({ code, message, details }: Refusal): RunError =>
  details ? { code, message, details } : { code, message };

/** Holds a value to a schema that came with data. One that cannot be used lets nothing through. */
export function schemaRefusal(step: Step, schema: Json, value: Json, path: string): Refusal | undefined {
  const check: SchemaCheck | string = step.plan.compileSchema(schema);
  if (typeof check === 'string') return invalid(path, `its schema cannot be used (${check}).`);
  const problem = check(value);
  return problem && invalid(`${path}${problem.path}`, `${problem.message}.`);
}
