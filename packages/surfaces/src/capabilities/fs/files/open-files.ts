/**
 * `files/roots/` has a folder for each workspace, `files/staged/` has content in transit. A change is noted in
 * the database, made by one rename, then recorded. After a crash the note and the staged file show whether the
 * rename happened. Changes in a workspace are serialized.
 */

import { hash } from 'node:crypto';
import { access, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limiter } from '@gantry/limiter';
import { codeOf } from '../../../backend-errors.ts';
import { assertSameCall } from '../../../calls/call-journal.ts';
import type { MakeRoom } from '../../../calls/content-room.ts';
import type { PortWrite } from '../../../calls/surface-call.ts';
import {
  FILE_BYTES_MAX,
  FILES_MAX,
  type FileContent,
  type FileFacts,
  type FilesPort,
  type WorkspaceFile,
  type WriteMode,
} from '../../../ports/files.ts';
import { bytesFor, type QuotaOf } from '../../../quotas.ts';
import type { EmbeddedDatabase } from '../../../sqlite/database.ts';
import type { FileChange } from '../../../sqlite/files.ts';
import { denied, explain, explainRead, isAbsent } from './folder.ts';
import { listFiles } from './list.ts';
import { plainPath, plainPathOrRoot } from './path.ts';
import {
  changeOf,
  contentFor,
  inFolder,
  look,
  prune,
  readWhole,
  stage,
  type Target,
  tooLarge,
} from './root.ts';

export interface FilesOptions {
  readonly database: EmbeddedDatabase;
  readonly dataDir: string;
  /** Per tenant; counts what was written here. */
  readonly quotaBytes: number | QuotaOf;
  /** Per tenant, for tests. Default: `FILES_MAX`. */
  readonly filesMax?: number;
  readonly now: () => number;
}

export async function openFiles(options: FilesOptions): Promise<FilesPort> {
  const files = new Files(options);
  await files.open();
  return files;
}

const CHANGES_BATCH = 100;

class Files implements FilesPort {
  readonly #options: FilesOptions;
  readonly #folder: string;
  readonly #staged: string;
  /** Serializes changes in each workspace. */
  readonly #turns = limiter({ max: Number.POSITIVE_INFINITY, perTenantMax: 1 });

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#folder = join(options.dataDir, 'files');
    this.#staged = join(this.#folder, 'staged');
  }

  async open(): Promise<void> {
    const { database, now } = this.#options;
    while (database.isInUse('files')) {
      const changes = await database.read('files', 'changes', CHANGES_BATCH);
      for (const change of changes) {
        try {
          await this.#make(change, 'again');
          await database.upkeep('files', 'recover', change, now());
        } catch {
          // It was not acknowledged and cannot be completed: a repeat of the call reports the reason
          await database.upkeep('files', 'abandon', change.tenant, change.invocation);
        }
      }
      if (changes.length < CHANGES_BATCH) break;
    }
    await rm(this.#staged, { recursive: true, force: true });
    await mkdir(this.#staged, { recursive: true, mode: 0o700 });
  }

  async read(file: WorkspaceFile, { tenant }: { tenant: string }, makeRoom?: MakeRoom) {
    const { root, names, path } = this.#target(file, tenant);
    const bytes = await readWhole(root, names, makeRoom).catch(explained(path, explainRead));
    return { bytes, contentType: await this.#typeOf(tenant, file.workspace, path) };
  }

  async stat(file: WorkspaceFile, { tenant }: { tenant: string }) {
    if (plainPathOrRoot(file.path).length === 0) return factsOfRoot(this.#rootOf(tenant, file.workspace));
    const { root, names, path } = this.#target(file, tenant);
    const seen = await look(root, names).catch(explained(path, explainRead));
    const isDirectory = seen.isDirectory();
    return {
      sizeBytes: isDirectory ? 0 : seen.size,
      modifiedAt: seen.mtimeMs,
      isDirectory,
      contentType: isDirectory ? null : await this.#typeOf(tenant, file.workspace, path),
    };
  }

  async list(range: Parameters<FilesPort['list']>[0], { tenant }: { tenant: string }) {
    return listFiles(this.#rootOf(tenant, range.workspace), range).catch(explained(range.prefix));
  }

  async write(file: WorkspaceFile & FileContent & { readonly mode: WriteMode }, call: PortWrite) {
    const target = this.#target(file, call.tenant);
    return this.#turns.run(target.root, async () => {
      const change = changeOf(file.workspace, target, call, 'write');
      const content = { bytes: file.bytes.byteLength, contentType: file.contentType };
      const made = await this.#once(change, call, async () => {
        const bytes = await contentFor(target, file);
        if (bytes.byteLength > FILE_BYTES_MAX) throw tooLarge();
        await stage(join(this.#staged, change.staged), bytes);
        return { ...change, ...content, bytes: bytes.byteLength };
      });
      return this.#options.database.write('files', 'wrote', call, made ?? { ...change, ...content });
    });
  }

  async delete(file: WorkspaceFile, call: PortWrite) {
    const target = this.#target(file, call.tenant);
    return this.#turns.run(target.root, async () => {
      const change = changeOf(file.workspace, target, call, 'delete');
      const made = await this.#once(change, call, async () => {
        const seen = await look(target.root, target.names).catch(nothing);
        if (seen?.isDirectory()) throw denied(target.path, 'is a folder; delete the files in it');
        return seen && change;
      });
      const answer = await this.#options.database.write('files', 'deleted', call, made);
      if (made) await rm(join(this.#staged, made.staged), { force: true });
      return answer;
    });
  }

  /** Makes the change unless it was already made. Null: nothing to change, or the answer is already recorded. */
  async #once(
    { tenant, invocation, path }: FileChange,
    call: PortWrite,
    decide: () => Promise<FileChange | null>,
  ): Promise<FileChange | null> {
    const { database, quotaBytes, filesMax = FILES_MAX } = this.#options;
    const bytesMax = bytesFor(quotaBytes, tenant);
    const before = await database.read('files', 'progress', tenant, invocation);
    if (before === 'recorded') return null;
    if (before) {
      assertSameCall(call.invocation, before);
      await this.#make(before, 'again').catch(explained(path));
      return before;
    }
    const change = await decide().catch(explained(path));
    if (change === null) return null;
    try {
      await database.upkeep('files', 'begin', change, { bytesMax, filesMax });
      await this.#make(change, 'first');
    } catch (error) {
      await database.upkeep('files', 'abandon', tenant, invocation);
      if (change.kind === 'write') await rm(join(this.#staged, change.staged), { force: true });
      throw explain(error, path);
    }
    return change;
  }

  /**
   * With `again`, the rename may have happened. Then the staged file of a write is gone, and that of a deletion exists.
   */
  async #make({ tenant, workspace, path, kind, staged }: FileChange, time: 'first' | 'again'): Promise<void> {
    const root = this.#rootOf(tenant, workspace);
    const names = path.split('/');
    const from = join(this.#staged, staged);
    if (time === 'again' && (kind === 'delete') === (await isThere(from))) return;
    const move = async (source: string, to: string): Promise<void> => {
      try {
        await rename(source, to);
      } catch (error) {
        if (time === 'first' || codeOf(error) !== 'ENOENT') throw error;
      }
    };
    await inFolder(
      root,
      names,
      async (folder, name) => {
        await (kind === 'write' ? move(from, folder.at(name)) : move(folder.at(name), from));
        await folder.sync();
      },
      kind === 'write',
    );
    if (kind === 'delete') await prune(root, names.slice(0, -1));
  }

  #target({ workspace, path }: WorkspaceFile, tenant: string): Target {
    const names = plainPath(path);
    return { root: this.#rootOf(tenant, workspace), names, path: names.join('/') };
  }

  /** A digest has no special characters, and is unique for each workspace. */
  #rootOf(tenant: string, workspace: string): string {
    const digest = hash('sha256', JSON.stringify([tenant, workspace]), 'hex');
    return join(this.#folder, 'roots', digest.slice(0, 40));
  }

  async #typeOf(tenant: string, workspace: string, path: string): Promise<string | null> {
    const known = await this.#options.database.read('files', 'contentType', { tenant, workspace, path });
    return known ?? typeByName(path);
  }
}

/** The root always exists for callers, although it is created with the first file. */
async function factsOfRoot(root: string): Promise<FileFacts> {
  const seen = await stat(root).catch(nothing).catch(explained('.'));
  return { sizeBytes: 0, modifiedAt: seen?.mtimeMs ?? 0, contentType: null, isDirectory: true };
}

function nothing(error: unknown): null {
  if (isAbsent(error)) return null;
  throw error;
}

const explained =
  (path: string, say = explain) =>
  (error: unknown): never => {
    throw say(error, path);
  };

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** For files that were written without a content type. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  csv: 'text/csv',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

export function typeByName(path: string): string | null {
  const extension = /\.([a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension]! : null;
}
