import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { integrityOf } from '../trust/keys.ts';
import { readIgnore } from './ignore.ts';
import { ARCHIVE_LIMITS, archiveError } from './limits.ts';
import { Names } from './path.ts';

export interface WrittenArchive {
  readonly bytes: Buffer;
  readonly integrity: string;
  /** The included files, sorted. */
  readonly paths: readonly string[];
}

const zip = promisify(gzip);
/** Byte 9 of gzip is the operating system. 255 means unknown, so that all systems produce the same bytes. */
const GZIP_OS_OFFSET = 9;
const GZIP_OS_UNKNOWN = 0xff;

/** The same folder always produces the same bytes, on every machine. */
export async function writeArchive(folder: string): Promise<WrittenArchive> {
  const paths = await packFiles(folder);
  if (!paths.includes('pack.json'))
    throw archiveError('tarball_manifest_missing', 'The folder has no pack.json at its root.');
  const files = new Map<string, Buffer>();
  let total = 0;
  for (const file of paths) {
    const content = await readFile(path.join(folder, file));
    total += content.length;
    if (content.length > ARCHIVE_LIMITS.entryBytesMax)
      throw archiveError('tarball_entry_too_large', `${file} is too large for an archive.`, file);
    if (total > ARCHIVE_LIMITS.totalBytesMax)
      throw archiveError('tarball_too_large', 'The folder is too large for an archive.');
    files.set(file, content);
  }
  return archiveOf(files);
}

/** An archive of files in memory, sorted by name. */
export async function archiveOf(files: ReadonlyMap<string, Uint8Array>): Promise<WrittenArchive> {
  const paths = [...files.keys()].sort();
  const names = new Names();
  const { pack } = await import('tar-stream');
  const tar = pack();
  for (const name of paths) {
    names.add(name, 'file');
    const header = { name, type: 'file', mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) } as const;
    tar.entry(header, Buffer.from(files.get(name) ?? []));
  }
  tar.finalize();
  const bytes = await zip(await buffer(tar), { level: constants.Z_BEST_COMPRESSION });
  bytes[GZIP_OS_OFFSET] = GZIP_OS_UNKNOWN;
  return { bytes, integrity: integrityOf(bytes), paths };
}

async function packFiles(folder: string): Promise<string[]> {
  const rules = readIgnore(await readText(path.join(folder, '.openwopignore')));
  const found: string[] = [];
  const collect = async (below: string): Promise<void> => {
    for (const entry of await readdir(path.join(folder, below), { withFileTypes: true })) {
      const name = below + entry.name;
      if (rules.ignores(name, entry.isDirectory() ? 'directory' : 'file')) continue;
      if (entry.isDirectory()) await collect(`${name}/`);
      else if (entry.isFile()) found.push(name);
      else
        throw archiveError('unsafe_paths', `${name} is a link or a device; archives hold only files.`, name);
      if (found.length > ARCHIVE_LIMITS.entriesMax)
        throw archiveError('tarball_too_large', `The folder has over ${ARCHIVE_LIMITS.entriesMax} files.`);
    }
  };
  await collect('');
  return found;
}

const readText = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
