/** A change of a file before it is made: what it is, and what the file will be. */
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../../backend-errors.ts';
import type { PortWrite } from '../../../calls/surface-call.ts';
import type { FileContent, WriteMode } from '../../../ports/files.ts';
import type { FileChange } from '../../../sqlite/files.ts';
import { syncFolder } from '../../../sync-folder.ts';
import { denied } from './errors.ts';
import { look, readWhole } from './root.ts';

export interface Target {
  readonly root: string;
  readonly names: readonly string[];
  readonly path: string;
}

export function changeOf(
  workspace: string,
  { path }: Target,
  call: PortWrite,
  kind: FileChange['kind'],
): FileChange {
  const { place: invocation, method, fingerprint } = call.invocation;
  return {
    tenant: call.tenant,
    invocation,
    method,
    fingerprint,
    workspace,
    path,
    kind,
    staged: randomUUID(),
    bytes: 0,
    contentType: null,
  };
}

/** What the file will be; judged by what is there now. */
export async function contentFor({ root, names, path }: Target, file: FileContent & { mode: WriteMode }) {
  const seen = await look(root, names).catch(missing);
  if (seen?.isDirectory()) throw denied(path, 'is a folder');
  if (seen && file.mode === 'create-only') throw denied(path, 'is already there, and was to be created');
  if (!seen || file.mode !== 'append') return file.bytes;
  return new Uint8Array(Buffer.concat([await readWhole(root, names), file.bytes]));
}

export async function stage(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(path));
}

/** Not for what lies below a file: a write cannot make that. */
function missing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
