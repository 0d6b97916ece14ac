/** Reads stored artifacts. A fork reads artifacts that it shares with its source from the source. */
import { pendingArtifacts, type RunFacts } from '@gantry/engine';
import {
  type Artifact,
  type ArtifactList,
  type ArtifactSummary,
  isoTime,
  isTerminal,
  OpenwopError,
} from '@gantry/protocol';
import { listRecords, readRecord, type Stored } from '@gantry/resources';
import type { RunKey, Store } from '@gantry/store';
import type { MediaStore } from '../ai/media-store.ts';
import type { ReadRun, Runtime } from '../runtime/runtime.ts';
import { ARTIFACTS, type ArtifactRecord, artifactRef, CONTENTS, versionId } from './artifact-record.ts';

const LIST_MAX = 1_000;
/** The maximum depth of forks of forks that are read. */
const SOURCES_MAX = 20;

export interface ArtifactsOptions {
  readonly entries: Pick<Store['entries'], 'get' | 'list'>;
  readonly runtime: Pick<Runtime, 'read'>;
  readonly media: Pick<MediaStore, 'read'>;
}

type StoredArtifact = Stored<ArtifactRecord>;

export class Artifacts {
  readonly #options: ArtifactsOptions;

  constructor(options: ArtifactsOptions) {
    this.#options = options;
  }

  /** Null if the run does not exist. */
  async list(key: RunKey): Promise<ArtifactList | null> {
    const read = await this.#options.runtime.read(key);
    if (!read) return null;
    const { run, plan } = read;
    const found = await this.#versions(key, read, SOURCES_MAX);
    const artifacts = found.slice(0, LIST_MAX);
    return {
      artifacts,
      drafts: isTerminal(run.status) ? [] : pendingArtifacts(plan, run),
      ...(found.length > LIST_MAX && { truncated: true }),
    };
  }

  /** The given version, else the last one. Null if the run does not exist. */
  async find(key: RunKey, artifactId: string, version?: string): Promise<Artifact | null> {
    const stored = await this.#stored(key, artifactId, version, SOURCES_MAX);
    if (!stored) return null;
    const { tenant, id } = stored;
    const kept = await readRecord(this.#options.entries, CONTENTS, tenant, id);
    if (!kept) throw missing(artifactId, version);
    const about = { ...shown(stored), runId: key.runId };
    if ('content' in kept.record) return { ...about, content: kept.record.content };
    const media = await this.#options.media.read(tenant, kept.record.mediaId);
    if (!media) throw missing(artifactId, version);
    return { ...about, base64: Buffer.from(media.data).toString('base64') };
  }

  async #stored(
    key: RunKey,
    artifactId: string,
    version: string | undefined,
    sourcesMax: number,
  ): Promise<StoredArtifact | null> {
    const own = await this.#own(key, artifactId, version);
    if (own) return own;
    const read = await this.#options.runtime.read(key);
    if (!read) return null;
    const { artifacts, facts } = read.run;
    const last = artifacts.get(artifactId)?.version ?? 0;
    const wanted = version ?? String(last);
    const source = sourceOf(facts);
    if (!source || sourcesMax === 0 || last === 0 || Number(wanted) > last)
      throw missing(artifactId, version);
    const found = await this.#stored(source, artifactId, wanted, sourcesMax - 1);
    if (!found) throw deletedSource(source.runId);
    return found;
  }

  async #own(
    { tenant, runId }: RunKey,
    artifactId: string,
    version?: string,
  ): Promise<StoredArtifact | null> {
    if (version !== undefined)
      return readRecord(this.#options.entries, ARTIFACTS, tenant, versionId(runId, artifactId, version));
    const filter = { ref: artifactRef(runId, artifactId), limit: 1 };
    return (await listRecords(this.#options.entries, ARTIFACTS, tenant, filter))[0] ?? null;
  }

  /** Sorted by artifact and version. Artifacts of a deleted source are omitted. */
  async #versions(key: RunKey, { run }: ReadRun, sourcesMax: number): Promise<ArtifactSummary[]> {
    const index = { name: 'run', value: key.runId };
    const filter = { index, oldestFirst: true, limit: LIST_MAX + 1 } as const;
    const own = (await listRecords(this.#options.entries, ARTIFACTS, key.tenant, filter)).map(shown);
    const source = sourceOf(run.facts);
    const read = source && sourcesMax > 0 ? await this.#options.runtime.read(source) : null;
    if (!source || !read) return own;
    const isOwn = new Set(own.map(nameOf));
    const shared = (await this.#versions(source, read, sourcesMax - 1)).filter(
      (each) =>
        Number(each.version) <= (run.artifacts.get(each.artifactId)?.version ?? 0) &&
        !isOwn.has(nameOf(each)),
    );
    return [...own, ...shared.map((each) => ({ ...each, runId: key.runId }))].sort(byName);
  }
}

const nameOf = ({ artifactId, version }: ArtifactSummary): string => versionId('', artifactId, version);

const byName = (left: ArtifactSummary, right: ArtifactSummary): number =>
  nameOf(left) < nameOf(right) ? -1 : 1;

const shown = ({ record, createdAt }: StoredArtifact): ArtifactSummary => ({
  ...record,
  createdAt: isoTime(createdAt),
});

const sourceOf = ({ fork, owner }: RunFacts): RunKey | undefined =>
  fork && { tenant: owner.tenant, runId: fork.sourceRunId };

export const missing = (artifactId: string, version?: string): OpenwopError =>
  new OpenwopError('not_found', {
    message:
      version === undefined
        ? 'The run has stored no artifact with this id. List them: `gantry artifacts ls RUN`.'
        : `The run has no version ${version} of this artifact. List them: \`gantry artifacts ls RUN\`.`,
    details: { artifactId },
  });

const deletedSource = (sourceRunId: string): OpenwopError =>
  new OpenwopError('not_found', {
    message: 'The artifact was stored by the run that this one was forked from, and went with it.',
    details: { sourceRunId },
  });
