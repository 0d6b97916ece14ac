import type { ErrorCode, JsonObject } from '@gantry/protocol';
import { isObject, own } from '../json.ts';
import type { Position } from './json-source.ts';
import { pointer } from './json-source.ts';

/** What is wrong with a manifest, and where in the file. */
export interface ManifestIssue extends Position {
  /** JSON pointer. */
  readonly path: string;
  readonly message: string;
  readonly code: ErrorCode;
}

export interface Finding {
  readonly path: string;
  readonly message: string;
  readonly code: ErrorCode;
  /** A warning does not refuse the manifest, since published packs have it. */
  readonly severity: 'error' | 'warning';
}

export class Findings {
  readonly list: Finding[] = [];

  refuse(path: string, message: string, code: ErrorCode = 'invalid_manifest'): void {
    this.list.push({ path, message, code, severity: 'error' });
  }

  warn(path: string, message: string): void {
    this.list.push({ path, message, code: 'invalid_manifest', severity: 'warning' });
  }
}

export interface Member {
  readonly path: string;
  readonly value: JsonObject;
}

/** The objects of a list, as far as they are objects: rules look at files that a schema may refuse as well. */
export function members(parent: Member, key: string): Member[] {
  const list = own(parent.value, key);
  if (!Array.isArray(list)) return [];
  const at = pointer(parent.path, key);
  return list.flatMap((value, index) => (isObject(value) ? [{ path: pointer(at, index), value }] : []));
}

export function member(parent: Member, key: string): Member | undefined {
  const value = own(parent.value, key);
  return isObject(value) ? { path: pointer(parent.path, key), value } : undefined;
}

/** Where a member of an object stands. */
export const at = ({ path }: Member, key: string): string => pointer(path, key);

export function text({ value }: Member, key: string): string | undefined {
  const found = own(value, key);
  return typeof found === 'string' ? found : undefined;
}

/** Refuses the second of two members with the same id. */
export function refuseDuplicates(
  list: readonly Member[],
  key: string,
  findings: Findings,
  code: ErrorCode = 'invalid_manifest',
): void {
  const seen = new Set<string>();
  for (const item of list) {
    const id = text(item, key);
    if (id === undefined) continue;
    if (seen.has(id)) findings.refuse(pointer(item.path, key), `${id} is declared twice.`, code);
    seen.add(id);
  }
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** A validation error as a sentence; undefined where the members of the object have their own. */
export function schemaSentence({ keyword, params, message }: SchemaError): string | undefined {
  if (keyword === 'additionalProperties') return undefined;
  if (keyword === 'boolean') return 'It does not belong here.';
  const allowed = 'allowedValues' in params ? `: ${[params.allowedValues].flat().join(', ')}` : '';
  return `It ${message}${allowed}.`;
}
