/** Fields of a request as options: texts, numbers, choices, and lists of them. Others come from a file. */
import type { Json, JsonObject, MethodWire } from '@gantry/protocol';
import type { Args } from './args.ts';
import { COMMON_OPTIONS, type OptionSpec, type OptionSpecs, option } from './command.ts';
import { UsageError } from './io.ts';
import { readChoice, readJson } from './values.ts';

export type Schema = MethodWire['in'];

interface Field {
  readonly name: string;
  readonly option: string;
  /** Of the value, or of each item of a list. */
  readonly type: Scalar;
  readonly isList: boolean;
}

type Scalar = 'string' | 'number' | 'integer' | 'boolean' | readonly string[];

/** They mean something else in every command of a resource. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.keys(COMMON_OPTIONS),
  'json',
  'limit',
  'before',
  'from',
]);

const PLACEHOLDERS = { string: 'TEXT', number: 'N', integer: 'N', boolean: 'true|false' } as const;

const isChoice = (type: Scalar): type is readonly string[] => typeof type !== 'string';

const words = (name: string): string => name.replaceAll('-', ' ');

export const propertiesOf = (schema: Schema): Readonly<Record<string, object>> =>
  (schema as { readonly properties?: Record<string, object> }).properties ?? {};

/** @example optionName('dueAt') // 'due-at' */
export const optionName = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function scalarOf(schema: object): Scalar | undefined {
  const { type, enum: choices } = schema as { type?: unknown; enum?: unknown };
  if (Array.isArray(choices)) return choices.map(String);
  return ['string', 'number', 'integer', 'boolean'].find((each) => each === type) as Scalar | undefined;
}

function fieldsOf(schema: Schema): Field[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, of]) => {
    const { items } = of as { items?: object };
    const type = scalarOf(items ?? of);
    const option = optionName(name);
    return type === undefined || TAKEN.has(option)
      ? []
      : [{ name, option, type, isList: items !== undefined }];
  });
}

/** The options of actions by their schemas. Fields of several actions share an option. */
export function fieldOptions(actions: readonly (readonly [string, Schema])[]): OptionSpecs {
  const options: Record<string, OptionSpec> = {};
  for (const [action, schema] of actions) {
    const fields = fieldsOf(schema);
    for (const { option: name, type, isList } of fields) {
      const [value, text] = isChoice(type)
        ? ['CHOICE', type.join(', ')]
        : [PLACEHOLDERS[type], `its ${words(name)}`];
      add(name, value, isList ? `${text}; may be repeated` : text, { multiple: true });
    }
    if (fields.length < Object.keys(propertiesOf(schema)).length)
      add('from', 'FILE', 'a JSON file with these and other fields');

    function add(name: string, value: string, text: string, more: { multiple?: true } = {}): void {
      const { of = [] } = options[name] ?? {};
      options[name] = option(value, text, { of: [...of, action], ...more });
    }
  }
  return options;
}

function readScalar(text: string, { option, type }: Field): Json {
  if (type === 'string') return text;
  if (type === 'boolean')
    return readChoice(text, { known: ['true', 'false'], noun: `--${option}` }) === 'true';
  if (isChoice(type)) return readChoice(text, { known: type, noun: `--${option}` })!;
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number)))
    return number;
  throw new UsageError(`--${option} takes a ${type === 'integer' ? 'whole ' : ''}number, not "${text}".`);
}

/** The request of an action: the fields of its options, and those of the file. The host checks the rest. */
export async function readFields(args: Args, schema: Schema): Promise<JsonObject> {
  const file = args.text('from');
  const read = file === undefined ? {} : await readJson(file);
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw new UsageError(`${file} must contain a JSON object.`);
  const fields = fieldsOf(schema).flatMap((field): [string, Json][] => {
    const texts = args.list(field.option);
    if (texts.length === 0) return [];
    if (field.isList) return [[field.name, texts.map((text) => readScalar(text, field))]];
    if (texts.length > 1) throw new UsageError(`Give --${field.option} once.`);
    return [[field.name, readScalar(texts[0]!, field)]];
  });
  return { ...read, ...Object.fromEntries(fields) };
}
