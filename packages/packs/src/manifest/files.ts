import type { ErrorCode } from '@gantry/protocol';
import { normalizePath } from '../archive/path.ts';
import { isObject, jsonOf, utf8Of } from '../json.ts';
import type { PackManifest } from './kinds.ts';
import { fileRefs, rootOf } from './rules.ts';

export interface FileIssue {
  /** JSON pointer of the reference in the manifest. */
  readonly path: string;
  readonly file: string;
  readonly message: string;
  readonly code: ErrorCode;
}

const SIGNATURE = '/signing/signatureRef';

/** What the manifest refers to must be in the pack: code, schemas that are JSON, prompts that are text. */
export function checkFiles(manifest: PackManifest, files: ReadonlyMap<string, Uint8Array>): FileIssue[] {
  const root = rootOf(manifest);
  const refs = root ? fileRefs(root).filter(({ path }) => path !== SIGNATURE) : [];
  const issues = refs.flatMap(({ path, ref }) => {
    const file = normalizePath(ref);
    const message = problem(path, files.get(file));
    return message === undefined ? [] : [{ path, file, message, code: 'schema_ref_missing' as const }];
  });
  return [...issues, ...entryIssues(manifest, files)];
}

function problem(path: string, bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return 'The file is not in the pack.';
  const text = utf8Of(bytes);
  if (text === undefined) return 'The file is not UTF-8 text.';
  return /SchemaRef$|\/schemaRef$/.test(path) && !isJsonSchema(text)
    ? 'The file is not a JSON Schema.'
    : undefined;
}

function entryIssues(manifest: PackManifest, files: ReadonlyMap<string, Uint8Array>): FileIssue[] {
  const entries =
    manifest.kind === 'node' && manifest.runtime.language !== 'remote'
      ? [{ path: '/runtime/entry', file: normalizePath(manifest.runtime.entry) }]
      : manifest.kind === 'frontend-plugin'
        ? manifest.uiPlugins.map(({ entry }, index) => ({
            path: `/uiPlugins/${index}/entry`,
            file: normalizePath(entry),
          }))
        : [];
  return entries
    .filter(({ file }) => !files.has(file))
    .map((entry) => ({ ...entry, message: 'The file is not in the pack.', code: 'tarball_entry_missing' }));
}

function isJsonSchema(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === 'boolean' || isObject(value);
}
