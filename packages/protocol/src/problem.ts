/** Describes schema violations of a value for its sender. Values are never repeated. */
import type { TSchema } from 'typebox';
import { meant, mistyped, NAME_MAX } from './did-you-mean.ts';
import { lazyValidator } from './lazy-validator.ts';
import { type AnyValidator, type SchemaError, schemaErrors } from './schema-errors.ts';

/** `field` is a pointer, empty for the value itself; `problem` is as in `must be string`. */
export type Problem = { readonly field: string; readonly problem: string };

/**
 * All problems of an invalid value. A choice among constants is reported once, with all of them.
 * @example problemsIn(Compile(schema), value) // [{ field: '/method', problem: 'must be one of GET, PUT' }]
 */
export function problemsIn(validator: AnyValidator, value: unknown): Problem[] {
  const schema = validator.Schema() as TSchema;
  const reported = new Map<string, Reported>();
  const variants = new Set<string>();
  for (const error of schemaErrors(validator, value)) {
    const variant = variantAt(schema, error);
    if (variant) {
      if (!variants.has(variant.path))
        for (const each of problemsInVariant(variant, value))
          reported.set(`${each.field} ${each.problem}`, each);
      variants.add(variant.path);
      continue;
    }
    const { instancePath: field, keyword, message } = error;
    const unknown = unknownMember(schema, error);
    // This error comes after those of its members, and is missing after eight of them
    if (keyword === 'additionalProperties') continue;
    const choices = choicesOf(schema, error);
    if (unknown) addTo(reported, unknown.of, 'members', [unknown.member]);
    else if (choices) addTo(reported, field, 'choices', choices);
    else reported.set(`${field} ${message}`, { field, problem: message + slips(schema, error, value) });
  }
  if (reported.size === 0) return [{ field: '', problem: 'has too many items, or one that is not valid' }];
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

/** An unknown member of an object, and the name that was probably meant. */
function unknownMember(
  schema: TSchema,
  { keyword, schemaPath, instancePath }: SchemaError,
): { readonly of: string; readonly member: string } | undefined {
  if (keyword !== 'boolean' || !schemaPath.endsWith('/additionalProperties')) return undefined;
  const at = schemaPath.split('/').slice(1, -1).reduce(memberOf, schema);
  const end = instancePath.lastIndexOf('/');
  const shown = named(instancePath.slice(end + 1)).slice(0, NAME_MAX);
  const known = Object.keys(Object(memberOf(at, 'properties')));
  return { of: instancePath.slice(0, end), member: `"${shown}"${meant(shown, known)}` };
}

const named = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

const stepsOf = (pointer: string): string[] => pointer.split('/').slice(1).map(named);

/** The name that was probably meant for a missing member; empty if unknown members have their own error. */
function slips(
  schema: TSchema,
  { keyword, schemaPath, instancePath, params }: SchemaError,
  value: unknown,
): string {
  if (keyword !== 'required' || !('requiredProperties' in params)) return '';
  const at = schemaPath.split('/').slice(1).reduce(memberOf, schema);
  if (memberOf(at, 'additionalProperties') === false) return '';
  const given = Object.keys(Object(stepsOf(instancePath).reduce(memberOf, value)));
  const known = Object.keys(Object(memberOf(at, 'properties')));
  return [params.requiredProperties]
    .flat()
    .map((name) => mistyped(String(name), given, known))
    .join('');
}

/** A union of objects that are distinguished by a constant member, such as `type`. */
interface Variant {
  readonly path: string;
  readonly members: readonly unknown[];
  readonly tag: string;
}

/** How many segments of a schema path are one step into the value. */
const STEP: Readonly<Record<string, number>> = {
  properties: 2,
  patternProperties: 2,
  items: 1,
  additionalProperties: 1,
};

/** The outermost variant that contains the error: TypeBox reports the errors of all its members. */
function variantAt(schema: TSchema, { schemaPath, instancePath }: SchemaError): Variant | undefined {
  const names = schemaPath.split('/').slice(1);
  const steps = instancePath.split('/');
  let at: unknown = schema;
  let depth = 1;
  for (let next = 0; next <= names.length; ) {
    const members = memberOf(at, 'anyOf');
    const tag = Array.isArray(members) ? tagOf(members) : undefined;
    if (tag !== undefined)
      return { path: steps.slice(0, depth).join('/'), members: members as unknown[], tag };
    const step = STEP[names[next] ?? ''];
    const many = step ?? 1;
    at = names.slice(next, next + many).reduce(memberOf, at);
    next += many;
    if (step) depth++;
  }
  return undefined;
}

const tagged = (member: unknown, tag: string): unknown =>
  ['properties', tag, 'const'].reduce(memberOf, member);

const tagOf = (members: readonly unknown[]): string | undefined =>
  Object.keys(Object(memberOf(members[0], 'properties'))).find((tag) => {
    const constants = new Set(members.map((member) => tagged(member, tag)));
    return constants.size === members.length && !constants.has(undefined);
  });

/** Compiled once each. */
const validators = new WeakMap<object, AnyValidator>();

function problemsInVariant({ path, members, tag }: Variant, whole: unknown): Problem[] {
  const value = stepsOf(path).reduce(memberOf, whole);
  if (typeof value !== 'object' || value === null) return [{ field: path, problem: 'must be object' }];
  const constant = memberOf(value, tag);
  const member = members.find((each) => tagged(each, tag) === constant) as TSchema | undefined;
  if (!member) {
    const all = members.map((each) => tagged(each, tag));
    return [{ field: `${path}/${tag}`, problem: inWords({ what: 'choices', all: new Set(all) }) }];
  }
  const validator = validators.get(member) ?? lazyValidator(member);
  validators.set(member, validator);
  return problemsIn(validator, value).map(({ field, problem }) => ({ field: path + field, problem }));
}

const inWords = ({ what, all }: Several): string =>
  what === 'members' ? `has no member ${[...all].map(inWord).join(', ')}` : oneOf([...all]);

const inWord = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const CHOICES_SHOWN_MAX = 50;

/** @example oneOf(['GET', 'PUT']) // 'must be one of GET, PUT' */
export function oneOf(choices: readonly unknown[]): string {
  const words = choices.slice(0, CHOICES_SHOWN_MAX).map((each) => inWord(each).slice(0, NAME_MAX));
  if (choices.length > words.length) words.push('...');
  return words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(', ')}`;
}

/** Null if the error is not about a choice. */
function choicesOf(schema: TSchema, { keyword, schemaPath, params }: SchemaError): readonly unknown[] | null {
  // TypeBox stops after eight errors, so those of a long union name only some of its members
  const union = unionAt(schema, schemaPath);
  if (union) return union;
  if (keyword === 'const' && 'allowedValue' in params) return [params.allowedValue];
  return keyword === 'enum' && 'allowedValues' in params ? [params.allowedValues].flat() : null;
}

/** The constants of the outermost union on the path that consists only of constants. */
function unionAt(schema: TSchema, schemaPath: string): readonly unknown[] | null {
  let at: unknown = schema;
  for (const name of ['', ...schemaPath.split('/').slice(1)]) {
    at = name === '' ? at : memberOf(at, name);
    const constants = 'anyOf' in Object(at) ? constantsOf(at) : null;
    if (constants) return constants;
  }
  return null;
}

/** Null if anything but a constant is valid too. */
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
