/** Artifacts of runs: versioned output of nodes for people. */
import Type, { type Static } from 'typebox';
import { Count, closedObject, optional, Text, Time } from './schema.ts';

/** The formats to which this host can convert an artifact, by their names in the protocol. */
export const ARTIFACT_FORMATS = ['json', 'md', 'html'] as const;
export type ArtifactFormat = (typeof ARTIFACT_FORMATS)[number];

const About = {
  runId: Text,
  artifactId: Text,
  artifactType: Text,
  nodeId: optional(Text),
  /** Starts at `1`. */
  version: Text,
  /** Whether it was validated against the schema of its type. */
  registered: Type.Boolean(),
  registrationSource: optional(Type.Enum(['pack'])),
  schemaVersion: optional(Count),
  summary: optional(Type.String()),
  /** The key that stored it, unless the run itself did. */
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

/** Created by a node, and not stored yet. */
export const ArtifactDraft = Type.Object({
  artifactId: Text,
  artifactType: Text,
  nodeId: Text,
  /** The condition for storing it. */
  syncOn: Type.Enum(['approval', 'manual']),
});

export const ArtifactList = Type.Object({
  artifacts: Type.Array(ArtifactSummary),
  drafts: Type.Array(ArtifactDraft),
  /** Set if there are more versions than listed. */
  truncated: optional(Type.Boolean()),
});
export type ArtifactList = Static<typeof ArtifactList>;

/** The copy that people edit; stored versions do not change. */
export const WorkingCopy = Type.Object({
  runId: Text,
  artifactId: Text,
  artifactType: Text,
  /** Opaque. A write names the version that it replaces. */
  version: Text,
  /** The stored version that it is based on; absent if there is none. */
  base: optional(Text),
  content: Type.Unknown(),
});
export type WorkingCopy = Static<typeof WorkingCopy>;

export const WriteWorkingCopy = closedObject({ version: Text, content: Type.Unknown() });
export type WriteWorkingCopy = Static<typeof WriteWorkingCopy>;

export const RegisteredArtifact = Type.Object({ runId: Text, artifactId: Text, version: Text });
export type RegisteredArtifact = Static<typeof RegisteredArtifact>;
