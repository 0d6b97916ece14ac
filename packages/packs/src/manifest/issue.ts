import { type ErrorCode, isObject, type Json, type JsonObject, type LazyValidator } from '@gantry/protocol';
import type { TSchema } from 'typebox';
import { own } from '../json.ts';
import { type Position, pointer } from './json-source.ts';

/** A problem of a manifest, with its position in the file. */
export interface ManifestIssue extends Position {
  /** JSON pointer. */
  readonly path: string;
  readonly message: string;
  readonly code: ErrorCode;
}

export interface Finding extends Omit<ManifestIssue, keyof Position> {
  /** A warning does not refuse the manifest, since published packs contain it. */
  readonly severity: 'error' | 'warning';
}

/** An object of a manifest. The rules also read files that the schema refuses, so members may have any type. */
export class Part {
  readonly path: string;
  readonly value: JsonObject;
  /** Shared by the whole manifest. */
  readonly findings: Finding[];

  constructor(value: JsonObject, path = '', findings: Finding[] = []) {
    this.value = value;
    this.path = path;
    this.findings = findings;
  }

  /** `at` is a JSON pointer relative to this part. */
  refuse(at: string, message: string, code: ErrorCode = 'invalid_manifest'): void {
    this.findings.push({ path: this.path + at, message, code, severity: 'error' });
  }

  warn(at: string, message: string): void {
    this.findings.push({ path: this.path + at, message, code: 'invalid_manifest', severity: 'warning' });
  }

  has(key: string): boolean {
    return Object.hasOwn(this.value, key);
  }

  text(key: string): string | undefined {
    const found = own(this.value, key);
    return typeof found === 'string' ? found : undefined;
  }

  /** The items of a list, each with its pointer relative to this part. */
  items(key: string): { readonly at: string; readonly value: Json }[] {
    const list = own(this.value, key);
    const items = Array.isArray(list) ? list : [];
    return items.map((value, index) => ({ at: pointer(pointer('', key), index), value }));
  }

  part(key: string): Part | undefined {
    const value = own(this.value, key);
    return isObject(value) ? new Part(value, pointer(this.path, key), this.findings) : undefined;
  }

  /** The objects of a list. */
  parts(key: string): Part[] {
    return this.items(key).flatMap(({ at, value }) =>
      isObject(value) ? [new Part(value, this.path + at, this.findings)] : [],
    );
  }
}

/** Refuses the second of two parts with the same id. */
export function refuseDuplicates(parts: readonly Part[], key: string, code?: ErrorCode): void {
  const seen = new Set<string>();
  for (const part of parts) {
    const id = part.text(key);
    if (id === undefined) continue;
    if (seen.has(id)) part.refuse(pointer('', key), `${id} is declared twice.`, code);
    seen.add(id);
  }
}

export type SchemaError = ReturnType<LazyValidator<TSchema>['Errors']>[1][number];

/** A validation error as a sentence; undefined if the members of the object have their own errors. */
export function schemaSentence({ keyword, params, message }: SchemaError): string | undefined {
  if (keyword === 'additionalProperties') return undefined;
  if (keyword === 'boolean') return 'It does not belong here.';
  const allowed = 'allowedValues' in params ? `: ${[params.allowedValues].flat().join(', ')}` : '';
  return `It ${message}${allowed}.`;
}
