/** Unpacked code under the data folder, created at the first use and shared by all processes. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { extractArchive, PARTIAL } from '@gantry/packs';
import type { VersionRecord } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';

type CodeAddress = Pick<VersionRecord, 'name' | 'version' | 'integrity'>;

export class CodeFolders {
  readonly #root: string;
  readonly #records: PackRecords;
  readonly #unpacking = new Map<string, Promise<string>>();

  constructor(dataDir: string, records: PackRecords) {
    this.#root = path.resolve(dataDir, 'packs');
    this.#records = records;
  }

  /** Removes folders that a dead process left half unpacked. */
  async clean(): Promise<void> {
    for (const name of await namesIn(this.#root))
      for (const entry of await namesIn(path.join(this.#root, name)))
        if (entry.endsWith(PARTIAL))
          await rm(path.join(this.#root, name, entry), { recursive: true, force: true });
  }

  folderOf(address: CodeAddress): Promise<string> {
    const present = this.#unpacking.get(address.integrity);
    if (present) return present;
    const folder = this.#unpack(address);
    this.#unpacking.set(address.integrity, folder);
    folder.catch(() => this.#unpacking.delete(address.integrity));
    return folder;
  }

  /** Called when nothing uses the code any more. */
  async remove(address: CodeAddress): Promise<void> {
    this.#unpacking.delete(address.integrity);
    await rm(this.#targetOf(address), { recursive: true, force: true });
  }

  #targetOf({ name, version, integrity }: CodeAddress): string {
    const digest = Buffer.from(integrity.slice('sha256-'.length), 'base64').toString('hex').slice(0, 32);
    return path.join(this.#root, name, `${version}-${digest}`);
  }

  async #unpack(address: CodeAddress): Promise<string> {
    const { integrity } = address;
    const target = this.#targetOf(address);
    if (await exists(target)) return target;
    await mkdir(path.dirname(target), { recursive: true, mode: 0o755 });
    await extractArchive(await this.#records.archive(integrity), { target, integrity });
    return target;
  }
}

const exists = (folder: string): Promise<boolean> =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
