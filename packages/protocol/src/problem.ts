/** What is wrong with a value by its schema, in words for its sender. Values are never repeated. */
import type { TSchema } from 'typebox';
import { nearest } from './did-you-mean.ts';
import { type AnyValidator, type SchemaError, schemaErrors } from './schema-errors.ts';

/** `field` is a pointer, empty for the value itself; `problem` is as in `must be string`. */
export type Problem = { readonly field: string; readonly problem: string };

/**
 * One for each thing that is wrong with a value that does not fit. A choice among constants is reported once, with
 * all of them.
 * @example problemsIn(Compile(schema), value) // [{ field: '/method', problem: 'must be one of GET, PUT' }]
 */
export function problemsIn(validator: AnyValidator, value: unknown): Problem[] {
  const schema = validator.Schema() as TSchema;
  const reported = new Map<string, Reported>();
  for (const error of schemaErrors(validator, value)) {
    const { instancePath: field, keyword, message } = error;
    const unknown = unknownMember(schema, error);
    // It comes after its members, and not at all after eight of them
    if (keyword === 'additionalProperties') continue;
    const choices = choicesOf(schema, error);
    if (unknown) addTo(reported, unknown.of, 'members', [unknown.member]);
    else if (choices) addTo(reported, field, 'choices', choices);
    else reported.set(`${field} ${message}`, { field, problem: message });
  }
  if (reported.size === 0) return [{ field: '', problem: 'has too many items, or one that does not fit' }];
  return [...reported.values()].map(({ field, problem }) => ({
    field,
    problem: typeof problem === 'string' ? problem : inWords(problem),
  }));
}

interface Several {
  readonly what: 'members' | 'choices';
  readonly all: Set<unknown>;
}
type Reported = { readonly field: string; readonly problem: string | Several };

function addTo(
  reported: Map<string, Reported>,
  field: string,
  what: Several['what'],
  more: readonly unknown[],
): void {
  const before = reported.get(`${field} ${what}`)?.problem;
  const all = typeof before === 'object' ? before.all : new Set();
  for (const each of more) all.add(each);
  reported.set(`${field} ${what}`, { field, problem: { what, all } });
}

const NAME_MAX = 64;

/** A member that its object does not have, and what was probably meant. */
function unknownMember(
  schema: TSchema,
  { keyword, schemaPath, instancePath }: SchemaError,
): { readonly of: string; readonly member: string } | undefined {
  if (keyword !== 'boolean' || !schemaPath.endsWith('/additionalProperties')) return undefined;
  let at: unknown = schema;
  for (const name of schemaPath.split('/').slice(1, -1)) at = memberOf(at, name);
  const end = instancePath.lastIndexOf('/');
  const shown = instancePath
    .slice(end + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
    .slice(0, NAME_MAX);
  const meant = nearest(shown, Object.keys(Object(memberOf(at, 'properties'))));
  const member = meant === undefined ? `"${shown}"` : `"${shown}" (did you mean "${meant}"?)`;
  return { of: instancePath.slice(0, end), member };
}

function inWords({ what, all }: Several): string {
  const words = [...all].map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  if (what === 'members') return `has no member ${words.join(', ')}`;
  return words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(', ')}`;
}

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
