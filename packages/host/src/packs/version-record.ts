/** Makes the stored record of an archive. */
import type { PackEffect } from '@gantry/engine';
import {
  type Archive,
  type NodePackManifest,
  normalizePath,
  type PackManifest,
  requiresOf,
  surfaceAsks,
} from '@gantry/packs';
import { given, type JsonObject, OpenwopError } from '@gantry/protocol';
import { checkedPrompts } from '../prompts/checked-prompts.ts';
import { artifactTypeRecords, readSchemaText } from './artifact-types/artifact-type-record.ts';
import { type NodeAuth, nodeAuth } from './connections/node-auth.ts';
import type { CodeRecord, Declared, NodeRecord, PackNode, VersionRecord } from './pack-record.ts';

export interface Contents {
  readonly record: VersionRecord;
  /** Ids of the contents of a pack that has neither nodes nor chains. */
  readonly contentIds: readonly string[];
  /** The parts of the pack that this host does not serve, and why. */
  readonly warnings: readonly string[];
}

export function contentsOf(
  manifest: PackManifest,
  archive: Pick<Archive, 'files' | 'integrity'>,
  source: VersionRecord['source'],
): Contents {
  const { name, version } = manifest;
  const about = { name, version, integrity: archive.integrity, source };
  if (manifest.kind === 'node') return nodeContents(manifest, archive.files, about);
  const plain = { ...about, requires: [], nodes: [] };
  if (manifest.kind === 'workflow-chain')
    return { record: { ...plain, chains: manifest.chains }, contentIds: [], warnings: [] };
  const { declared, contentIds } = declaredBy(manifest, archive.files);
  return { record: { ...plain, chains: [], declared }, contentIds, warnings: [] };
}

type About = Pick<VersionRecord, 'name' | 'version' | 'integrity' | 'source'>;

function nodeContents(manifest: NodePackManifest, files: Archive['files'], about: About): Contents {
  const warnings: string[] = [];
  if (!manifest.nodes?.length) throw agentsNotServed(manifest);
  if (manifest.agents?.length) warnings.push('Its agents are not served by this host; its nodes are.');
  const actions = new Map(manifest.connector?.actions?.map((action) => [action.typeId, action]));
  const nodes = manifest.nodes.map((node) =>
    nodeRecord(
      node,
      files,
      { action: actions.get(node.typeId), auth: nodeAuth(node, manifest.connector) },
      warnings,
    ),
  );
  const requires = requiresOf(manifest);
  const peers = Object.keys(manifest.peerDependencies ?? {});
  const { asks, unknown: surfaceUnknowns } = surfaceAsks(manifest, files);
  if (surfaceUnknowns.length > 0) {
    const shown = surfaceUnknowns.slice(0, 3).join('; ');
    warnings.push(`Which surfaces it calls cannot be determined in full: ${shown}.`);
  }
  const code = codeOf(manifest);
  const record = { ...about, requires, peers, surfaceAsks: asks, surfaceUnknowns, nodes, chains: [], code };
  return { record, contentIds: [], warnings };
}

type DeclarativeManifest = Exclude<PackManifest, { kind: 'node' | 'workflow-chain' }>;

function declaredBy(
  manifest: DeclarativeManifest,
  files: Archive['files'],
): { declared: Declared; contentIds: readonly string[] } {
  switch (manifest.kind) {
    case 'connection': {
      const { kind, provider } = manifest;
      return { declared: { kind, provider }, contentIds: [provider.id] };
    }
    case 'prompt': {
      const prompts = checkedPrompts(manifest.prompts);
      const contentIds = prompts.map(({ templateId }) => templateId);
      return { declared: { kind: manifest.kind, prompts }, contentIds };
    }
    case 'artifact-type': {
      const types = artifactTypeRecords(manifest.artifactTypes, files);
      const contentIds = types.map(({ artifactTypeId }) => artifactTypeId);
      return { declared: { kind: manifest.kind, types }, contentIds };
    }
    case 'card': {
      const cardTypeIds = manifest.cards.map(({ cardTypeId }) => cardTypeId);
      return { declared: { kind: manifest.kind, cardTypeIds }, contentIds: cardTypeIds };
    }
    case 'form-content': {
      const templateIds = manifest.templates.map(({ templateId }) => templateId);
      return { declared: { kind: manifest.kind, templateIds }, contentIds: templateIds };
    }
    case 'frontend-plugin':
      throw new Error('the install gate refuses plugins');
  }
}

/** A pack with only agents needs a runtime for them, even if its manifest does not say so. */
const agentsNotServed = ({ name, version }: PackManifest): OpenwopError =>
  new OpenwopError('pack_peer_dependency_missing', {
    message: `${name}@${version} brings agents and no node types; this host does not offer agents.manifestRuntime.`,
    details: { manifest: `${name}@${version}`, missing: ['agents.manifestRuntime'] },
  });

function codeOf({ name, version, runtime }: NodePackManifest): CodeRecord {
  const { language, entry, format, wasm } = runtime;
  if (language === 'remote') return { language, entry };
  if (language !== 'javascript' && language !== 'wasm' && language !== 'python')
    throw new OpenwopError('unsupported_runtime', { details: { manifest: `${name}@${version}`, language } });
  return {
    language,
    entry: normalizePath(entry),
    ...given({ format, memoryPagesMax: wasm?.memoryPagesMax }),
  };
}

type Action = NonNullable<NonNullable<NodePackManifest['connector']>['actions']>[number];

function nodeRecord(
  node: PackNode,
  files: Archive['files'],
  { action, auth }: { readonly action: Action | undefined; readonly auth: NodeAuth | undefined },
  warnings: string[],
): NodeRecord {
  const schemaOf = (ref: string | undefined): JsonObject | undefined => {
    if (ref === undefined) return;
    const bytes = files.get(normalizePath(ref));
    if (bytes === undefined) throw new Error(`${ref} was checked to be in the pack`);
    const reading = readSchemaText(Buffer.from(bytes).toString('utf8'));
    if (reading.usable) return reading.schema;
    warnings.push(`${node.typeId}: ${ref} is not checked: ${reading.problem}`);
    return;
  };
  const { requiresSecrets: secrets = [], requiredCredentials: credentials = [] } = node;
  const { requiredModelCapabilities, fallbackModel } = node;
  const { rateLimit } = action ?? {};
  const needsAny = secrets.length + credentials.length > 0 || auth !== undefined;
  return {
    typeId: node.typeId,
    effect: effectOf(node, action?.idempotent === true),
    sensitiveOutputs: Object.entries(node.outputs ?? {}).flatMap(([port, marks]) =>
      isSensitive(marks) ? [port] : [],
    ),
    ...(node.requires?.length && { requires: node.requires }),
    ...given({
      configSchema: schemaOf(node.configSchemaRef),
      inputSchema: schemaOf(node.inputSchemaRef),
      outputSchema: schemaOf(node.outputSchemaRef),
      artifact: node.artifact,
    }),
    ...(needsAny && { needs: given({ secrets, credentials, auth }) }),
    ...(requiredModelCapabilities?.length && { model: given({ requiredModelCapabilities, fallbackModel }) }),
    ...(rateLimit && { rateLimit: { requests: 1, perSeconds: 1, ...rateLimit } }),
  };
}

const isSensitive = (marks: unknown): boolean =>
  typeof marks === 'object' && marks !== null && 'sensitive' in marks && marks.sensitive === true;

/** Published roles; an unknown role is treated as one with side effects. */
const HARMLESS_ROLES = new Set(['pure', 'gate', 'human-input', 'streaming-output']);

function effectOf({ role, capabilities = [] }: PackNode, idempotent: boolean): PackEffect {
  if (role === 'pure' && !capabilities.includes('side-effectful')) return 'pure';
  if (idempotent) return 'idempotent';
  return HARMLESS_ROLES.has(role) && !capabilities.includes('side-effectful') ? 'idempotent' : 'effect';
}
