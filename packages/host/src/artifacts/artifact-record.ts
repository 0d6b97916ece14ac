/**
 * Artifacts as they are kept: what is known of a version, and apart from it its content, so that lists stay small. Both
 * are written in the commit of `artifact.created`, and deleted with the run.
 */
import type { MadeArtifact, RunFacts } from '@gantry/engine';
import type { ArtifactSummary, Json } from '@gantry/protocol';
import { type RecordKind, toEntry } from '@gantry/resources';
import type { Write } from '@gantry/store';

export type ArtifactRecord = Omit<ArtifactSummary, 'createdAt'>;

type RunRecord = { readonly runId: string };

export type ContentRecord = RunRecord & ({ readonly content: Json } | { readonly base64: string });

const endsWithRun = ({ runId }: RunRecord): string => runId;

export const artifactRef = (runId: string, artifactId: string): string => `${runId}/${artifactId}`;

export const ARTIFACTS: RecordKind<ArtifactRecord> = {
  kind: 'artifact',
  idPrefix: 'art',
  ref: ({ runId, artifactId }) => artifactRef(runId, artifactId),
  index: { run: endsWithRun },
  endsWithRun,
};

export const CONTENTS: RecordKind<ContentRecord> = {
  kind: 'artifact-content',
  idPrefix: 'art',
  endsWithRun,
};

const VERSION_DIGITS = 8;

/** Ids of one artifact sort by version. */
export const versionId = (runId: string, artifactId: string, version: string): string =>
  `${runId}/${artifactId}/${version.padStart(VERSION_DIGITS, '0')}`;

type Facts = Pick<RunFacts, 'runId' | 'owner'>;

/** What stores the artifacts of one decision, in the commit of its events. */
export const artifactWrites = (facts: Facts, made: readonly MadeArtifact[] = [], now: number): Write[] =>
  made.flatMap(({ created, content, schemaVersion }) => {
    const { runId } = facts;
    const record = { runId, ...created, ...(schemaVersion !== undefined && { schemaVersion }) };
    return versionWrites(facts, now, record as Told, { runId, content });
  });

type Told = Omit<ArtifactRecord, 'mediaType' | 'bytes'>;

const JSON_MEDIA = 'application/json';

function versionWrites(facts: Facts, now: number, told: Told, body: ContentRecord): Write[] {
  const { tenant, workspace = null } = facts.owner;
  const { runId, artifactId, version } = told;
  const common = { tenant, workspace, createdAt: now, id: versionId(runId, artifactId, version) };
  const size =
    'base64' in body
      ? Buffer.byteLength(body.base64, 'base64')
      : Buffer.byteLength(JSON.stringify(body.content));
  const record: ArtifactRecord = { mediaType: JSON_MEDIA, ...told, bytes: size };
  return [
    put(toEntry({ ...common, kind: ARTIFACTS, record }, now)),
    put(toEntry({ ...common, kind: CONTENTS, record: body }, now)),
  ];
}

const put = (entry: Extract<Write, { kind: 'putEntry' }>['entry']): Write => ({
  kind: 'putEntry',
  entry,
  expectedVersion: null,
});
