/** What tests of files ask for. */
import type { FileRange, WriteMode } from '../ports/files.ts';

export const at = (path: string, workspace = 'main') => ({ workspace, path });
export const textAt = (path: string, text: string, mode: WriteMode = 'overwrite') => ({
  ...at(path),
  bytes: new Uint8Array(Buffer.from(text)),
  contentType: null,
  mode,
});
export const range = (more: Partial<FileRange> = {}): FileRange => ({
  workspace: 'main',
  prefix: '',
  after: null,
  limit: 1_000,
  recursive: true,
  hidden: true,
  ...more,
});
export const textOf = ({ bytes }: { bytes: Uint8Array }): string => Buffer.from(bytes).toString();
