/**
 * Published packs call some methods by other names, with other members. A spelling says which method is meant and
 * adapts what goes in and what comes out. Where the contract and a pack share a path, answers carry both spellings.
 */
import { invalid } from '@gantry/protocol';
import type { Data, DataObject } from './data.ts';

export interface StepFacts {
  readonly input: DataObject;
  readonly now: number;
}

/** Pure. Leaves what it does not understand as it is: the schema of the method judges it. */
export interface Step {
  readonly says: string;
  /** Of what goes in: members that it understands and the contract does not have. */
  readonly knows?: readonly string[];
  adapt(value: DataObject, facts: StepFacts): DataObject;
}

export interface Spelling {
  /** In `ctx`. */
  readonly path: string;
  /** Only for calls whose argument has this member, other than as false. */
  readonly when?: string;
  /** `capability.method` */
  readonly to: `${string}.${string}`;
  readonly takes?: readonly Step[];
  readonly gives?: readonly Step[];
}

/** A spelling as the literal of its surface has it. */
export interface OwnSpelling extends Pick<Spelling, 'when' | 'takes' | 'gives'> {
  /** Below the path of the surface; elsewhere with `ctx.` before it. */
  readonly call: string;
  /** The method that is meant, where it has another name. */
  readonly to?: string;
}

export const isList = (value: Data | undefined): value is readonly Data[] => Array.isArray(value);

const isGiven = (value: DataObject, name: string): boolean =>
  Object.hasOwn(value, name) && value[name] !== undefined;

/** `expect` → `expectedValue`. What the contract's own member says stands when both are given. */
export const rename = (names: Readonly<Record<string, string>>): Step => ({
  says: Object.entries(names)
    .map(([from, to]) => `\`${from}\` → \`${to}\``)
    .join(', '),
  knows: Object.keys(names),
  adapt: (value) =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const to = Object.hasOwn(names, name) ? names[name]! : name;
        return to !== name && isGiven(value, to) ? [] : [[to, member]];
      }),
    ),
});

/** For members that exclude each other: with both, one would be ignored, and too much could be changed. */
export const either = (one: string, other: string): Step => ({
  says: `\`${one}\` or \`${other}\`, not both`,
  adapt: (value) => {
    if (!isGiven(value, one) || !isGiven(value, other)) return value;
    throw invalid(`The argument has both \`${one}\` and \`${other}\`. Send only one of them.`);
  },
});

/** Members that the pack may leave out. */
export const fill = (members: DataObject): Step => ({
  says: Object.entries(members)
    .map(([name, value]) => `\`${name}\` is ${JSON.stringify(value)} unless given`)
    .join(', '),
  adapt: (value) => ({ ...members, ...value }),
});

/** Further members that say the same: `{ id: 'rowId' }` gives `rowId` also as `id`. */
export const also = (names: Readonly<Record<string, string>>): Step => ({
  says: Object.entries(names)
    .map(([to, from]) => `\`${from}\` also as \`${to}\``)
    .join(', '),
  adapt: (value) => ({
    ...value,
    ...Object.fromEntries(
      Object.entries(names).flatMap(([to, from]) => (from in value ? [[to, value[from]!]] : [])),
    ),
  }),
});

/** One member made from the others, those of `knows` among them; nothing is added when `make` answers undefined. */
export const member = (
  name: string,
  says: string,
  make: (value: DataObject, facts: StepFacts) => Data | undefined,
  knows: readonly string[] = [],
): Step => ({
  says: `\`${name}\`: ${says}`,
  knows,
  adapt: (value, facts) => {
    const made = make(value, facts);
    return made === undefined ? value : { ...value, [name]: made };
  },
});

/** `sql` and `nosql`. */
export const datasource = rename({ datasource: 'datasourceId' });

/** What published packs send and nothing here depends on. */
export const unused = (name: string, why: string): Step => ({
  says: `\`${name}\` has no effect: ${why}`,
  knows: [name],
  adapt: (value) => value,
});

const NOT_BASE64 =
  'is not base64. Write the standard alphabet with its padding, without line breaks and without a `data:` prefix.';

/** Throws `validation_error`. Takes only text that encodes back to itself, since `Buffer` skips bad characters. */
export function decodeBase64(text: string, member: string, orElse = ''): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text) return new Uint8Array(bytes);
  throw invalid(`The text in \`${member}\` ${NOT_BASE64}${orElse}`);
}

/** Bytes that the pack writes as base64; bytes that are there stand. */
export const fromBase64 = (from: string, to: string): Step => ({
  says: `\`${from}\` (base64 with its padding, without a \`data:\` prefix) → \`${to}\` (bytes)`,
  knows: [from],
  adapt: ({ [from]: text, ...value }) =>
    typeof text !== 'string' || isGiven(value, to) ? value : { ...value, [to]: decodeBase64(text, from) },
});

/** What fits as base64 into the JSON of one message, which may have 16 MiB, with something beside it. */
export const TEXT_BYTES_MAX = 12 * 1_048_576 - 65_536;

export const isTooLongForText = (bytes: Data | undefined): boolean =>
  bytes instanceof Uint8Array && bytes.byteLength > TEXT_BYTES_MAX;

/** Undefined for what is no bytes, and for more of them than text can have. */
export const textOf = (bytes: Data | undefined, encoding: 'utf8' | 'base64'): string | undefined =>
  bytes instanceof Uint8Array && !isTooLongForText(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding)
    : undefined;

/** Beside `bytes` of an answer. */
export const sizeInBytes = member('size', 'in bytes', ({ bytes }) =>
  bytes instanceof Uint8Array ? bytes.byteLength : undefined,
);

/** What a call may say beside the members of the contract. */
export const knownTo = (steps: readonly Step[] = []): readonly string[] =>
  steps.flatMap(({ knows = [] }) => knows);

export const through = (
  steps: readonly Step[] | undefined,
  value: DataObject,
  facts: StepFacts,
): DataObject => (steps ?? []).reduce((adapted, step) => step.adapt(adapted, facts), value);
