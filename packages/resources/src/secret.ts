/**
 * Secret fields of records: sealed before they are stored, and opened only where they are used. A record that
 * was read or written does not contain their text, so no view does.
 */
import type { Stored } from './record-kind.ts';

export interface Sealer {
  /** `context` identifies the owner of the text; it cannot be opened with another. */
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string | null;
  /** A keyed hash with a separate key for each purpose. */
  hmac(purpose: string): (text: string) => Buffer;
}

/** A secret field: plain text as input, sealed when stored. */
export type Secret = string | { readonly sealed: string };

type Unversioned<R extends object> = Omit<Stored<R>, 'version'>;

const contextOf = <R extends object>({ kind, tenant, id }: Unversioned<R>, field: string): string =>
  `${kind.kind}/${tenant}/${id}/${field}`;

/** The record with its secrets sealed. Already sealed fields are unchanged. */
export function sealSecrets<R extends object>(stored: Unversioned<R>, sealer: Sealer | undefined): R {
  const { kind, record } = stored;
  const sealed = (kind.secret ?? []).flatMap((field) => {
    const text: unknown = record[field];
    if (typeof text !== 'string') return [];
    if (!sealer) throw new Error(`Records of kind ${kind.kind} have secrets; there is no key to seal them.`);
    return [[field, { sealed: sealer.seal(text, contextOf(stored, field)) }]];
  });
  return sealed.length === 0 ? record : { ...record, ...Object.fromEntries(sealed) };
}

/** Null if the field is not set, or was sealed with another key or for another record. */
export function openSecret<R extends object>(
  sealer: Pick<Sealer, 'open'>,
  stored: Stored<R>,
  field: keyof R & string,
): string | null {
  const kept: unknown = stored.record[field];
  if (typeof kept !== 'object' || kept === null || !('sealed' in kept)) return null;
  return sealer.open(String(kept.sealed), contextOf(stored, field));
}
