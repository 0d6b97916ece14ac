/** The artifact of a node, determined when the definition is compiled. */
import type { JsonObject, WorkflowNode } from '@gantry/protocol';
import type { Compilation } from '../compilation.ts';
import type { Sha256 } from '../mask.ts';
import type { NodeType } from '../nodes/node-type.ts';
import type { SchemaCheck } from '../schema.ts';

/** When an artifact is stored: at the end of its node, on approval, or manually. */
export type SyncOn = 'completion' | 'approval' | 'manual';

/** A type that an installed pack registers. */
export interface ArtifactType {
  readonly schema: JsonObject;
  readonly schemaVersion?: number;
  readonly syncOn?: SyncOn;
}

export type ArtifactTypes = (artifactTypeId: string) => ArtifactType | undefined;

export interface NodeArtifact {
  readonly id: string;
  readonly typeId: string;
  readonly syncOn: SyncOn;
  /** The output that is the artifact; if there is no such output, all outputs are. */
  readonly output: string;
  /** Absent for a type that no pack registers: its artifacts are not checked. */
  readonly registered?: { readonly check: SchemaCheck; readonly schemaVersion: number };
}

const SAFE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The node's own id if it is safe in a URL, else a hash of it. */
const artifactId = (nodeId: string, sha256: Sha256 | undefined): string =>
  SAFE_ID.test(nodeId) ? nodeId : `~${sha256?.(nodeId).slice(0, 32) ?? ''}`;

/** The type in the definition overrides that of the pack. A gate names the type that it reviews. */
export function nodeArtifact(
  compilation: Compilation,
  node: WorkflowNode,
  type: NodeType,
  path: string,
): NodeArtifact | undefined {
  const declared = type.pack?.artifact;
  const typeId = node.artifactType ?? declared?.typeId;
  if (typeId === undefined || typeId === '' || type.reviews) return;
  const found = compilation.artifactTypes(typeId);
  if (!found && node.artifactType !== undefined)
    compilation.warn(
      `${path}/artifactType`,
      `No installed pack registers the artifact type ${typeId}: its artifacts are stored unchecked`,
    );
  const check = found && compilation.schema(`${path}/artifactType`, found.schema);
  return {
    id: artifactId(node.id, compilation.sha256),
    typeId,
    syncOn: declared?.syncOn ?? found?.syncOn ?? 'completion',
    output: type.artifactOutput ?? 'artifact',
    ...(check && { registered: { check, schemaVersion: found.schemaVersion ?? 0 } }),
  };
}
