/** Converts a schema to a TypeScript type, formatted as the project's formatter does. */
import type { TSchema } from 'typebox';

export interface Written {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** Schemas that only have a description, by that description. Their types are in `ctx-base.d.ts`. */
const NAMED: Readonly<Record<string, string>> = {
  'any JSON value': 'Json',
  bytes: 'Uint8Array',
  'an object of JSON values': 'JsonObject',
  'a filter': 'Filter',
  'an object of texts, numbers and booleans': 'Fields',
  'values in order, or by name': 'SqlParams',
  'a row by its columns': 'SqlRow',
};

const PLAIN = ['string', 'number', 'boolean', 'null'];

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value}'` : JSON.stringify(value);

export interface TypeContext {
  /** The indent of the line on which the type begins. */
  readonly indent: string;
  /** Inputs have limits and readonly lists; an answer belongs to the pack's code. */
  readonly of: 'input' | 'answer';
  /** Objects without comments up to this length stay on one line. */
  readonly inlineMax: number;
}

export function typeText(schema: TSchema, context: TypeContext): string {
  const written = schema as Written;
  const { type = '', description = '', enum: choices, properties, patternProperties, items, anyOf } = written;
  if (written.const !== undefined) return literal(written.const);
  if (choices) return choices.map(literal).join(' | ');
  if (anyOf) return anyOf.map((each) => typeText(each, context)).join(' | ');
  if (items) return listText(typeText(items, context), context);
  if (properties) return objectText(properties, written.required ?? [], context);
  const plain = type === 'integer' ? 'number' : type;
  const named = NAMED[description] ?? (PLAIN.includes(plain) ? plain : undefined);
  if (named !== undefined) return named;
  const [values] = Object.values(patternProperties ?? {});
  if (values) return `{ [name: string]: ${typeText(values, context)} }`;
  if (type === 'object') return '{ [name: string]: unknown }';
  if (Object.keys(schema).length === 0) return 'unknown';
  throw new Error(`no TypeScript type is known for ${JSON.stringify(schema)}`);
}

const listText = (item: string, { of }: TypeContext): string =>
  `${of === 'input' ? 'readonly ' : ''}${item.includes(' | ') ? `(${item})` : item}[]`;

function objectText(
  properties: Readonly<Record<string, TSchema>>,
  required: readonly string[],
  { indent, of, inlineMax }: TypeContext,
): string {
  const inner = { indent: `${indent}  `, of, inlineMax };
  const members = Object.entries(properties).map(([name, member]) => ({
    doc: of === 'input' ? boundOf(member) : formOf(member),
    text: `${name}${required.includes(name) ? '' : '?'}: ${typeText(member, inner)}`,
  }));
  if (members.length === 0) return 'object';
  const inline = `{ ${members.map(({ text }) => text).join('; ')} }`;
  const isPlain = members.every(({ doc }) => doc === '') && !inline.includes('\n');
  if (isPlain && inline.length <= inlineMax) return inline;
  const lines = members.map(
    ({ doc, text }) => `${doc && `${inner.indent}/** ${doc} */\n`}${inner.indent}${text};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

const number = (value: number): string => value.toLocaleString('en-GB');

const formOf = (schema: TSchema): string => {
  const { type, description } = schema as Written;
  return type === 'string' && description !== undefined ? `${description}.` : '';
};

/** The limits of a value that its type does not express. */
function boundOf(schema: TSchema): string {
  const { type, minimum, maximum, exclusiveMinimum, maxLength, maxItems } = schema as Written;
  const range = [
    ...(minimum === undefined ? [] : [` from ${number(minimum)}`]),
    ...(exclusiveMinimum === undefined ? [] : [` above ${number(exclusiveMinimum)}`]),
    ...(maximum === undefined ? [] : [` up to ${number(maximum)}`]),
  ].join('');
  return [
    ...(type === 'integer' ? [`A whole number${range}.`] : []),
    ...(type === 'number' && range !== '' ? [`A number${range}.`] : []),
    ...(maxLength === undefined ? [] : [`At most ${number(maxLength)} characters.`]),
    ...(maxItems === undefined ? [] : [`At most ${number(maxItems)} of them.`]),
    formOf(schema),
  ]
    .join(' ')
    .trimEnd();
}
