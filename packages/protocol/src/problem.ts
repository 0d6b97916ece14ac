/** What is wrong with a value by its schema, in words for its sender. Values are never repeated. */
import type { TSchema } from 'typebox';
import { nearest } from './did-you-mean.ts';

/** `field` is a pointer, empty for the value itself; `problem` is as in `must be string`. */
export type Problem = { readonly field: string; readonly problem: string };

/** As TypeBox reports it. */
interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/**
 * One for each thing that is wrong. A choice among constants is reported once, with all of them.
 * @example problemsIn(schema, Compile(schema).Errors(value)[1]) // [{ field: '/method', problem: 'must be one of GET, PUT' }]
 */
export function problemsIn(schema: TSchema, errors: Iterable<SchemaError>): Problem[] {
  const reported = new Map<string, { readonly field: string; readonly problem: string | Set<unknown> }>();
  for (const error of errors) {
    if (isRepeated(error)) continue;
    const { instancePath: field } = error;
    const message = unknownMembers(schema, error) ?? error.message;
    const choices = choicesOf(schema, error);
    const key = `${field} ${choices ? 'choices' : message}`;
    const before = reported.get(key)?.problem;
    if (choices === null) reported.set(key, { field, problem: message });
    else if (before instanceof Set) for (const choice of choices) before.add(choice);
    else reported.set(key, { field, problem: new Set(choices) });
  }
  return [...reported.values()].map(({ field, problem }) => ({
    field,
    problem: problem instanceof Set ? inWords([...problem]) : problem,
  }));
}

/** Of an unknown member TypeBox reports the member, and then the object that does not have it. */
const isRepeated = ({ keyword, schemaPath }: SchemaError): boolean =>
  keyword === 'boolean' && schemaPath.endsWith('/additionalProperties');

const NAME_MAX = 64;

function unknownMembers(schema: TSchema, { keyword, schemaPath, params }: SchemaError): string | undefined {
  if (keyword !== 'additionalProperties' || !('additionalProperties' in params)) return undefined;
  let at: unknown = schema;
  for (const name of schemaPath.split('/').slice(1)) at = memberOf(at, name);
  const known = Object.keys(Object(memberOf(at, 'properties')));
  const named = [params.additionalProperties].flat().map((name) => {
    const shown = String(name).slice(0, NAME_MAX);
    const meant = nearest(shown, known);
    return meant === undefined ? `"${shown}"` : `"${shown}" (did you mean "${meant}"?)`;
  });
  return `has no member ${named.join(', ')}`;
}

const inWords = (choices: readonly unknown[]): string => {
  const shown = choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)));
  return shown.length === 1 ? `must be ${shown[0]}` : `must be one of ${shown.join(', ')}`;
};

/** Null when the error is not about a choice. */
function choicesOf(schema: TSchema, { keyword, schemaPath, params }: SchemaError): readonly unknown[] | null {
  // TypeBox stops after eight errors, so those of a long union name only some of its members
  const union = unionAt(schema, schemaPath);
  if (union) return union;
  if (keyword === 'const' && 'allowedValue' in params) return [params.allowedValue];
  return keyword === 'enum' && 'allowedValues' in params ? [params.allowedValues].flat() : null;
}

/** The constants of the outermost union of nothing else that is on the way there. */
function unionAt(schema: TSchema, schemaPath: string): readonly unknown[] | null {
  let at: unknown = schema;
  for (const name of ['', ...schemaPath.split('/').slice(1)]) {
    at = name === '' ? at : memberOf(at, name);
    const constants = 'anyOf' in Object(at) ? constantsOf(at) : null;
    if (constants) return constants;
  }
  return null;
}

/** Null where something else than a constant fits too. */
function constantsOf(schema: unknown): readonly unknown[] | null {
  const members = memberOf(schema, 'anyOf');
  if (Array.isArray(members)) {
    const each = members.map(constantsOf);
    return each.every((constants) => constants !== null) ? each.flat() : null;
  }
  const constant = memberOf(schema, 'const');
  if (constant !== undefined) return [constant];
  return memberOf(schema, 'type') === 'null' ? [null] : null;
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
