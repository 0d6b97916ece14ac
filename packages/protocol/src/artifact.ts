/** Artifacts of runs: what nodes produced for people, in versions. */
import Type, { type Static } from 'typebox';
import { Count, closedObject, optional, Text, Time } from './schema.ts';

/** What this host makes of an artifact, by the names that the protocol has for formats. */
export const ARTIFACT_FORMATS = ['json', 'md', 'html'] as const;
export type ArtifactFormat = (typeof ARTIFACT_FORMATS)[number];

const About = {
  runId: Text,
  artifactId: Text,
  artifactType: Text,
  nodeId: optional(Text),
  /** From `1` on. */
  version: Text,
  /** Whether it was checked against the schema of its type. */
  registered: Type.Boolean(),
  registrationSource: optional(Type.Enum(['pack'])),
  schemaVersion: optional(Count),
  summary: optional(Type.String()),
  /** The key of who stored it, where it was not the run itself. */
  registeredBy: optional(Text),
  mediaType: Text,
  bytes: Count,
  createdAt: Time,
};

export const ArtifactSummary = Type.Object(About);
export type ArtifactSummary = Static<typeof ArtifactSummary>;

/** One version. JSON is in `content`; anything else in `base64`. */
export const Artifact = Type.Object({
  ...About,
  content: optional(Type.Unknown()),
  base64: optional(Type.String()),
});
export type Artifact = Static<typeof Artifact>;

/** Made by a node, and not stored yet. */
export const ArtifactDraft = Type.Object({
  artifactId: Text,
  artifactType: Text,
  nodeId: Text,
  /** What it waits for. */
  syncOn: Type.Enum(['approval', 'manual']),
});

export const ArtifactList = Type.Object({
  artifacts: Type.Array(ArtifactSummary),
  drafts: Type.Array(ArtifactDraft),
  /** Given when there are more versions than are listed. */
  truncated: optional(Type.Boolean()),
});
export type ArtifactList = Static<typeof ArtifactList>;

/** What people edit; the stored versions stay as they are. */
export const WorkingCopy = Type.Object({
  runId: Text,
  artifactId: Text,
  artifactType: Text,
  /** Opaque: a write names the one that it replaces. */
  version: Text,
  /** The stored version that it was made from; absent when there is none. */
  base: optional(Text),
  content: Type.Unknown(),
});
export type WorkingCopy = Static<typeof WorkingCopy>;

export const WriteWorkingCopy = closedObject({ version: Text, content: Type.Unknown() });
export type WriteWorkingCopy = Static<typeof WriteWorkingCopy>;

export const RegisteredArtifact = Type.Object({ runId: Text, artifactId: Text, version: Text });
export type RegisteredArtifact = Static<typeof RegisteredArtifact>;
