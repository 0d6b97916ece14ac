/** From an archive that was read to what the host keeps of it. */
import type { PackEffect } from '@gantry/engine';
import { type Archive, type NodePackManifest, normalizePath, type PackManifest } from '@gantry/packs';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import { compileUserSchema } from '../workflows/user-schema.ts';
import type { CodeRecord, NodeRecord, VersionRecord } from './pack-record.ts';

export interface Contents {
  readonly record: VersionRecord;
  /** What of the pack this host leaves out, and why. */
  readonly warnings: readonly string[];
}

type PackNode = NonNullable<NodePackManifest['nodes']>[number];

export function contentsOf(
  manifest: PackManifest,
  { files, integrity }: Pick<Archive, 'files' | 'integrity'>,
  source: VersionRecord['source'],
): Contents {
  const { name, version } = manifest;
  const warnings: string[] = [];
  const about = { name, version, integrity, source };
  if (manifest.kind === 'workflow-chain')
    return { record: { ...about, requires: [], nodes: [], chains: manifest.chains }, warnings };
  if (manifest.kind !== 'node' || !manifest.nodes?.length) throw notServed(manifest);
  if (manifest.agents?.length) warnings.push('Its agents are not served by this host; its nodes are.');
  const idempotent = new Set(
    manifest.connector?.actions?.flatMap((action) => (action.idempotent ? action.typeId : [])),
  );
  const nodes = manifest.nodes.map((node) => nodeRecord(node, files, idempotent.has(node.typeId), warnings));
  const requires = manifest.runtime.requires ?? [];
  return { record: { ...about, requires, nodes, chains: [], code: codeOf(manifest) }, warnings };
}

/** Agents alone need a runtime for them, whether their manifest says so or not. */
const notServed = ({ name, version }: PackManifest): OpenwopError =>
  new OpenwopError('pack_peer_dependency_missing', {
    message: `${name}@${version} brings agents and no node types; this host does not offer agents.manifestRuntime.`,
    details: { manifest: `${name}@${version}`, missing: ['agents.manifestRuntime'] },
  });

function codeOf({ name, version, runtime }: NodePackManifest): CodeRecord {
  const { language, entry, format, wasm } = runtime;
  if (language !== 'javascript' && language !== 'wasm' && language !== 'python')
    throw new OpenwopError('unsupported_runtime', { details: { manifest: `${name}@${version}`, language } });
  return {
    language,
    entry: normalizePath(entry),
    ...(format !== undefined && { format }),
    ...(wasm?.memoryPagesMax !== undefined && { memoryPagesMax: wasm.memoryPagesMax }),
  };
}

function nodeRecord(
  node: PackNode,
  files: Archive['files'],
  idempotent: boolean,
  warnings: string[],
): NodeRecord {
  const schemaOf = (ref: string | undefined): JsonObject | undefined => {
    if (ref === undefined) return;
    const { schema, problem } = readSchema(files.get(normalizePath(ref)));
    if (problem !== undefined) warnings.push(`${node.typeId}: ${ref} is not checked: ${problem}`);
    return schema;
  };
  const configSchema = schemaOf(node.configSchemaRef);
  const inputSchema = schemaOf(node.inputSchemaRef);
  const refusal = refusalOf(node);
  return {
    typeId: node.typeId,
    effect: effectOf(node, idempotent),
    sensitiveOutputs: Object.entries(node.outputs ?? {}).flatMap(([port, marks]) =>
      isSensitive(marks) ? [port] : [],
    ),
    ...(configSchema && { configSchema }),
    ...(inputSchema && { inputSchema }),
    ...(refusal && { refusal }),
  };
}

const isSensitive = (marks: unknown): boolean =>
  typeof marks === 'object' && marks !== null && 'sensitive' in marks && marks.sensitive === true;

/** Published roles; a role that nobody knows is taken for one that acts on the world. */
const HARMLESS_ROLES = new Set(['pure', 'gate', 'human-input', 'streaming-output']);

function effectOf({ role, capabilities = [] }: PackNode, idempotent: boolean): PackEffect {
  if (role === 'pure' && !capabilities.includes('side-effectful')) return 'pure';
  if (idempotent) return 'idempotent';
  return HARMLESS_ROLES.has(role) && !capabilities.includes('side-effectful') ? 'idempotent' : 'effect';
}

function refusalOf({ requiresSecrets, requiredCredentials, auth, requiredModelCapabilities }: PackNode) {
  if (requiresSecrets?.length || requiredCredentials?.length || auth)
    return {
      code: 'credential_unavailable',
      message: 'The node needs credentials, which this host does not keep.',
    };
  if (requiredModelCapabilities?.length)
    return { code: 'capability_not_provided', message: 'The node needs a model, which this host has not.' };
  return;
}

/** Published schemas name themselves by an address; nothing is ever fetched from there. */
function readSchema(bytes: Uint8Array | undefined): { schema?: JsonObject; problem?: string } {
  if (bytes === undefined) return { problem: 'it is not in the pack.' };
  const { $id: _id, $schema: _dialect, ...schema } = JSON.parse(Buffer.from(bytes).toString('utf8'));
  const check = compileUserSchema(schema);
  return typeof check === 'string' ? { problem: check } : { schema };
}
