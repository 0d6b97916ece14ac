/**
 * Published packs call some methods by other names, with other members. A spelling says which method is meant and
 * adapts what goes in and what comes out. Where the contract and a pack share a path, answers carry both spellings.
 */
import type { Data, DataObject } from './data.ts';

export interface StepFacts {
  /** As the pack sent it. */
  readonly input: DataObject;
  readonly now: number;
}

/** Pure. Leaves what it does not understand as it is: the schema of the method judges it. */
export interface Step {
  /** For the docs page. */
  readonly says: string;
  adapt(value: DataObject, facts: StepFacts): DataObject;
}

export interface Spelling {
  /** In `ctx`. */
  readonly path: string;
  /** Only for calls whose argument has this member. */
  readonly when?: string;
  /** `capability.method` */
  readonly to: `${string}.${string}`;
  readonly takes?: readonly Step[];
  readonly gives?: readonly Step[];
}

/** `expect` → `expectedValue` */
export const rename = (names: Readonly<Record<string, string>>): Step => ({
  says: Object.entries(names)
    .map(([from, to]) => `\`${from}\` → \`${to}\``)
    .join(', '),
  adapt: (value) =>
    Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !Object.values(names).includes(name) || !(sourceOf(names, name) in value))
        .map(([name, member]) => [names[name] ?? name, member]),
    ),
});

const sourceOf = (names: Readonly<Record<string, string>>, to: string): string =>
  Object.keys(names).find((from) => names[from] === to)!;

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

/** One member made from the others; nothing is added when `make` answers undefined. */
export const member = (
  name: string,
  says: string,
  make: (value: DataObject, facts: StepFacts) => Data | undefined,
): Step => ({
  says: `\`${name}\`: ${says}`,
  adapt: (value, facts) => {
    const made = make(value, facts);
    return made === undefined ? value : { ...value, [name]: made };
  },
});

/** Bytes that the pack writes as base64. */
export const fromBase64 = (from: string, to: string): Step => ({
  says: `\`${from}\` (base64) → \`${to}\` (bytes)`,
  adapt: ({ [from]: text, ...value }) =>
    typeof text === 'string' ? { ...value, [to]: new Uint8Array(Buffer.from(text, 'base64')) } : value,
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

export const through = (
  steps: readonly Step[] | undefined,
  value: DataObject,
  facts: StepFacts,
): DataObject => (steps ?? []).reduce((adapted, step) => step.adapt(adapted, facts), value);
