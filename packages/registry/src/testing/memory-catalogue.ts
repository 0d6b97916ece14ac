/** A catalogue in memory, made from real archives: what is derived can be tested without publishing. */
import { readArchive } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import type { Catalogue, PackSummary, PublishedVersion } from '../catalogue/catalogue.ts';
import { newestFirst, summaryOf } from '../catalogue/summary.ts';

export const PUBLISHED_AT = '2026-05-01T12:00:00.000Z';

export type Facts = Partial<
  Pick<PublishedVersion, 'signing' | 'signature' | 'yank' | 'deprecation' | 'provenance'>
>;

export class MemoryCatalogue implements Catalogue {
  readonly name = 'packs';
  readonly #versions = new Map<string, PublishedVersion[]>();
  readonly #summaries = new Map<string, PackSummary>();
  readonly #archives = new Map<string, Buffer>();
  revision = 0;

  async add(bytes: Buffer, facts: Facts = {}): Promise<PublishedVersion> {
    const { files, manifestBytes, integrity, packedBytes } = await readArchive(bytes);
    const manifest: JsonObject & { name: string; version: string; kind?: PublishedVersion['kind'] } =
      JSON.parse(manifestBytes.toString('utf8'));
    const version: PublishedVersion = {
      name: manifest.name,
      version: manifest.version,
      kind: manifest.kind ?? 'node',
      integrity,
      archiveBytes: packedBytes,
      manifest,
      signing: { method: 'none', state: 'unsigned' },
      files: [...files.keys()].sort(),
      revertedYanks: [],
      provenance: { publishedAt: PUBLISHED_AT, publishedBy: { keyId: 'key_1', name: 'release robot' } },
      ...facts,
    };
    this.#archives.set(integrity, bytes);
    this.put(version);
    return version;
  }

  /** Adds a version, or changes what is known of it. */
  put(version: PublishedVersion): void {
    const others = (this.#versions.get(version.name) ?? []).filter(
      (known) => known.version !== version.version,
    );
    const versions = newestFirst([...others, version]);
    const summary = summaryOf(versions);
    this.#versions.set(version.name, versions);
    if (summary !== undefined) this.#summaries.set(version.name, summary);
    this.revision++;
  }

  summaries(): readonly PackSummary[] {
    return [...this.#summaries.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  summary(name: string): PackSummary | undefined {
    return this.#summaries.get(name);
  }

  async versions(name: string): Promise<readonly PublishedVersion[]> {
    return this.#versions.get(name) ?? [];
  }

  async version(name: string, version: string): Promise<PublishedVersion | undefined> {
    return this.#versions.get(name)?.find((known) => known.version === version);
  }

  async *archive({ integrity }: Pick<PublishedVersion, 'integrity'>): AsyncGenerator<Uint8Array> {
    const bytes = this.#archives.get(integrity);
    if (bytes === undefined) throw new Error('there is no such archive');
    yield bytes;
  }

  async file(version: Pick<PublishedVersion, 'integrity'>, path: string): Promise<Buffer | undefined> {
    return (await readArchive(this.archive(version))).files.get(path);
  }
}
