/**
 * Stored artifacts: the metadata of a version, and its content as a separate record, so that lists stay
 * small. Both are written in the commit of `artifact.created`, and deleted with the run.
 */
import type { EmittedEvent, MadeArtifact, RunFacts } from '@gantry/engine';
import { type ArtifactSummary, type Json, type Owner, ownerOf, type RunOwner } from '@gantry/protocol';
import { creation, type RecordKind } from '@gantry/resources';
import type { Write } from '@gantry/store';

export type ArtifactRecord = Omit<ArtifactSummary, 'createdAt'>;

type RunRecord = { readonly runId: string };

/** Media from models are stored once, with the record of their call. */
export type ContentRecord = RunRecord & ({ readonly content: Json } | { readonly mediaId: string });

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

type Facts = Pick<RunFacts, 'runId'> & { readonly owner: RunOwner | Owner };

/** The writes that store the artifacts of one decision, in the commit of its events. */
export const artifactWrites = (facts: Facts, made: readonly MadeArtifact[] = [], now: number): Write[] =>
  made.flatMap(({ created, content, schemaVersion }) => {
    const { runId } = facts;
    const bytes = Buffer.byteLength(JSON.stringify(content));
    const about = { runId, mediaType: 'application/json', bytes };
    const record = { ...created, ...about, ...(schemaVersion !== undefined && { schemaVersion }) };
    return versionWrites(facts, now, record as ArtifactRecord, { runId, content });
  });

/** Output of a model, by the id under which its bytes are stored. */
export interface MadeMedia {
  readonly id: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** The event of the artifact, and the writes of the same commit. */
export function mediaArtifact(
  { runId, owner, nodeId }: Facts & { readonly nodeId: string },
  { id, mimeType, bytes }: MadeMedia,
  artifactId: string,
  now: number,
): { readonly event: EmittedEvent; readonly writes: readonly Write[] } {
  const payload = {
    artifactId,
    artifactType: `media.${mimeType.split('/')[0]}`,
    version: '1',
    registered: false,
  };
  const record = { runId, nodeId, ...payload, mediaType: mimeType, bytes };
  const writes = versionWrites({ runId, owner }, now, record, { runId, mediaId: id });
  return { event: { type: 'artifact.created', payload }, writes };
}

function versionWrites(facts: Facts, now: number, record: ArtifactRecord, body: ContentRecord): Write[] {
  const { tenant, workspace } = ownerOf(facts.owner);
  const { runId, artifactId, version } = record;
  const of = { tenant, workspace, id: versionId(runId, artifactId, version) };
  return [creation(ARTIFACTS, of, record, now), creation(CONTENTS, of, body, now)];
}
