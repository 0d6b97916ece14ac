/**
 * Published packs call some methods by other names, with other members. A spelling maps such a call to a
 * method and adapts its input and output. Where the contract and a pack share a path, answers have both spellings.
 */
import { invalid } from '@gantry/protocol';
import type { Data, DataObject } from './data.ts';

export interface StepFacts {
  readonly input: DataObject;
  readonly now: number;
}

/** A pure function. Leaves members that it does not understand: the schema of the method checks them. */
export interface Step {
  readonly says: string;
  /** For inputs: members that it understands and the contract does not have. */
  readonly knows?: readonly string[];
  adapt(value: DataObject, facts: StepFacts): DataObject;
}

export interface Spelling {
  /** The path in `ctx`. */
  readonly path: string;
  /** Applies only to calls whose argument has this member with a value other than false. */
  readonly when?: string;
  /** `capability.method` */
  readonly to: `${string}.${string}`;
  readonly takes?: readonly Step[];
  readonly gives?: readonly Step[];
}

/** A spelling as written in the literal of its surface. */
export interface OwnSpelling extends Pick<Spelling, 'when' | 'takes' | 'gives'> {
  /** Relative to the path of the surface; with the prefix `ctx.` it is absolute. */
  readonly call: string;
  /** The target method, if its name differs. */
  readonly to?: string;
}

export const isList = (value: Data | undefined): value is readonly Data[] => Array.isArray(value);

const isGiven = (value: DataObject, name: string): boolean =>
  Object.hasOwn(value, name) && value[name] !== undefined;

/** `expect` → `expectedValue`. If both are given, the contract's own member wins. */
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

/** Defaults for members that the pack may omit. */
export const fill = (members: DataObject): Step => ({
  says: Object.entries(members)
    .map(([name, value]) => `\`${name}\` is ${JSON.stringify(value)} unless given`)
    .join(', '),
  adapt: (value) => ({ ...members, ...value }),
});

/** Aliases of members: `{ id: 'rowId' }` returns `rowId` also as `id`. */
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

/** Adds a member computed from others, including those of `knows`; adds nothing when `make` returns undefined. */
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

/** For `sql` and `nosql`. */
export const datasource = rename({ datasource: 'datasourceId' });

/** A member that published packs send and that has no effect here. */
export const unused = (name: string, why: string): Step => ({
  says: `\`${name}\` has no effect: ${why}`,
  knows: [name],
  adapt: (value) => value,
});

const NOT_BASE64 =
  'is not base64. Write the standard alphabet with its padding, without line breaks and without a `data:` prefix.';

/** Throws `validation_error`. Accepts only text that encodes back to itself, since `Buffer` skips bad characters. */
export function decodeBase64(text: string, member: string, orElse = ''): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text) return new Uint8Array(bytes);
  throw invalid(`The text in \`${member}\` ${NOT_BASE64}${orElse}`);
}

/** Decodes base64 from the pack; bytes that are already present win. */
export const fromBase64 = (from: string, to: string): Step => ({
  says: `\`${from}\` (base64 with its padding, without a \`data:\` prefix) → \`${to}\` (bytes)`,
  knows: [from],
  adapt: ({ [from]: text, ...value }) =>
    typeof text !== 'string' || isGiven(value, to) ? value : { ...value, [to]: decodeBase64(text, from) },
});

/** The most bytes that fit as base64 into a JSON message of 16 MiB, with space for other members. */
export const TEXT_BYTES_MAX = 12 * 1_048_576 - 65_536;

export const isTooLongForText = (bytes: Data | undefined): boolean =>
  bytes instanceof Uint8Array && bytes.byteLength > TEXT_BYTES_MAX;

/** Undefined if not bytes, or if longer than the limit for text. */
export const textOf = (bytes: Data | undefined, encoding: 'utf8' | 'base64'): string | undefined =>
  bytes instanceof Uint8Array && !isTooLongForText(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding)
    : undefined;

/** Added next to `bytes` in an answer. */
export const sizeInBytes = member('size', 'in bytes', ({ bytes }) =>
  bytes instanceof Uint8Array ? bytes.byteLength : undefined,
);

/** The members that a call may have in addition to those of the contract. */
export const knownTo = (steps: readonly Step[] = []): readonly string[] =>
  steps.flatMap(({ knows = [] }) => knows);

export const through = (
  steps: readonly Step[] | undefined,
  value: DataObject,
  facts: StepFacts,
): DataObject => (steps ?? []).reduce((adapted, step) => step.adapt(adapted, facts), value);
