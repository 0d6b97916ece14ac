/** The pack argument of a command: a folder, which is checked and built, or an archive, which is read. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  ARCHIVE_LIMITS,
  archiveOf,
  type PackManifest,
  readArchive,
  readManifest,
  withFileList,
} from '@gantry/packs';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { checkPack } from './check.ts';
import { FaultyPack, isError, printFaults } from './fault.ts';

export interface BuiltPack {
  readonly manifest: PackManifest;
  readonly bytes: Uint8Array;
  readonly integrity: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export const packLabel = ({ name, version }: PackManifest): string => `${name}@${version}`;

/** The name that registries use. */
export const archiveName = ({ name, version }: PackManifest): string => `${name}-${version}.tgz`;

export async function buildOf(call: Call, word: string): Promise<BuiltPack> {
  const location = path.resolve(call.io.cwd, word);
  const found = await stat(location).catch(() => undefined);
  if (!found) throw new UsageError(`There is no ${word}. Name a pack folder or a .tgz archive.`);
  if (found.isDirectory()) return buildFolder(call, location);
  if (found.size > ARCHIVE_LIMITS.archiveBytesMax) {
    throw new UsageError(
      `${word} is larger than an archive may be, ${ARCHIVE_LIMITS.archiveBytesMax} bytes.`,
    );
  }
  return openArchive(call, location);
}

async function buildFolder(call: Call, folder: string): Promise<BuiltPack> {
  const { faults, manifest, files: found } = await checkPack(folder);
  printFaults(call, folder, faults.filter(isError));
  if (!manifest || faults.some(isError)) throw new FaultyPack();
  const files = withFileList(found, manifest);
  const { bytes, integrity } = await archiveOf(files);
  return { manifest, bytes, integrity, files };
}

async function openArchive(call: Call, file: string): Promise<BuiltPack> {
  const bytes = await readFile(file);
  const { files, manifestBytes, integrity } = await readArchive(bytes);
  const reading = readManifest(manifestBytes);
  if (reading.kind === 'manifest') return { manifest: reading.manifest, bytes, integrity, files };
  const faults = reading.issues.map((issue) => ({
    ...issue,
    severity: 'error' as const,
    file: `${path.basename(file)}/pack.json`,
  }));
  printFaults(call, path.dirname(file), faults);
  throw new FaultyPack();
}
