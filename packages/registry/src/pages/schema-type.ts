/** A JSON Schema in words: `list of string`, `one of "a", "b"`, `number from 0 to 1`. */
import type { Json, JsonObject } from '@gantry/protocol';
import { entriesAt, isObject, listAt, member, shorten, textAt } from '../json-values.ts';

const DEPTH_MAX = 3;
const CHOICES_MAX = 8;
const VALUE_CHARS_MAX = 60;

const valueText = (value: Json): string => shorten(JSON.stringify(value), VALUE_CHARS_MAX);

/** Resolves `#/$defs/x`. References to other files and circular ones are not resolved. */
function resolveRef(schema: Json, root: Json): Json {
  let found = schema;
  for (let steps = 0; steps < DEPTH_MAX; steps++) {
    const ref = textAt(found, '$ref');
    const [, folder, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref ?? '') ?? [];
    if (folder === undefined || name === undefined) return found;
    found = member(member(root, folder), name) ?? {};
  }
  return found;
}

export function typeText(schema: Json, root: Json, depth = 0): string {
  if (schema === true) return 'anything';
  if (schema === false) return 'nothing';
  const shape = resolveRef(schema, root);
  if (!isObject(shape) || depth > DEPTH_MAX) return 'anything';
  const constant = member(shape, 'const');
  if (constant !== undefined) return `always ${valueText(constant)}`;
  const choices = listAt(shape, 'enum');
  if (choices.length > 0) return choicesText(choices);
  const union = [...listAt(shape, 'anyOf'), ...listAt(shape, 'oneOf')];
  if (union.length > 0) {
    const texts = [...new Set(union.slice(0, CHOICES_MAX).map((part) => typeText(part, root, depth + 1)))];
    return `${texts.join(' or ')}${union.length > CHOICES_MAX ? ' or …' : ''}`;
  }
  return plainType(shape, root, depth);
}

function choicesText(choices: readonly Json[]): string {
  const shown = choices.slice(0, CHOICES_MAX).map(valueText).join(', ');
  return `one of ${shown}${choices.length > CHOICES_MAX ? ', …' : ''}`;
}

function plainType(shape: JsonObject, root: Json, depth: number): string {
  const type = member(shape, 'type');
  const names = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  if (names.length === 0) {
    return member(shape, 'properties') === undefined ? (textAt(shape, '$ref') ?? 'anything') : 'object';
  }
  return names.map((name) => (name === 'array' ? listText(shape, root, depth) : name)).join(' or ');
}

function listText(shape: JsonObject, root: Json, depth: number): string {
  const items = member(shape, 'items');
  return items === undefined ? 'list' : `list of ${typeText(items, root, depth + 1)}`;
}

/** Bounds and defaults. */
export function limitsText(shape: Json): string {
  const at = (key: string): string | undefined => {
    const value = member(shape, key);
    return value === undefined || isObject(value) ? undefined : valueText(value);
  };
  return LIMITS.flatMap(([key, words]) => {
    const value = at(key);
    return value === undefined ? [] : [words(value)];
  }).join(', ');
}

const LIMITS: readonly [key: string, words: (value: string) => string][] = [
  ['format', (value) => `format ${value}`],
  ['pattern', (value) => `pattern ${value}`],
  ['minLength', (value) => (value === '1' ? 'not empty' : `at least ${value} characters`)],
  ['maxLength', (value) => `at most ${value} characters`],
  ['minimum', (value) => `from ${value}`],
  ['exclusiveMinimum', (value) => `above ${value}`],
  ['maximum', (value) => `up to ${value}`],
  ['exclusiveMaximum', (value) => `below ${value}`],
  ['minItems', (value) => (value === '1' ? 'not empty' : `at least ${value} items`)],
  ['maxItems', (value) => `at most ${value} items`],
  ['default', (value) => `default ${value}`],
];

export interface SchemaRow {
  /** Dotted for nested members; `[]` is each item of a list. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly limits: string;
}

const ROWS_MAX = 100;
const DESCRIPTION_CHARS_MAX = 600;

/** The members of an object schema, with nested ones. */
export function schemaRows(schema: Json): { readonly rows: readonly SchemaRow[]; readonly isCut: boolean } {
  const rows: SchemaRow[] = [];
  let isCut = false;
  const visit = (object: Json, prefix: string, depth: number): void => {
    const required = new Set(listAt(object, 'required'));
    for (const [name, property] of entriesAt(object, 'properties')) {
      if (rows.length >= ROWS_MAX) {
        isCut = true;
        return;
      }
      const shape = resolveRef(property, schema);
      rows.push({
        path: shorten(`${prefix}${name}`, 120),
        type: shorten(typeText(property, schema), 200),
        isRequired: required.has(name),
        description: shorten(
          textAt(shape, 'description') ?? textAt(shape, 'title') ?? '',
          DESCRIPTION_CHARS_MAX,
        ),
        limits: limitsText(shape),
      });
      if (depth >= DEPTH_MAX) continue;
      visit(shape, `${prefix}${name}.`, depth + 1);
      visit(resolveRef(member(shape, 'items') ?? {}, schema), `${prefix}${name}[].`, depth + 1);
    }
  };
  visit(resolveRef(schema, schema), '', 1);
  return { rows, isCut };
}
