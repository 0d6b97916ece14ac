/**
 * The stored records of packs.
 *
 * `pack`          an installation: one tenant, one name, one version. `*` is the operator's, for every tenant.
 * `pack-grant`    the permissions that a tenant granted to a pack, with the time and the user.
 * `pack-version`  the data of one archive that compiling and running need; by its integrity, for every tenant,
 *                 like definitions. Runs are pinned to it, so it stays when the pack is uninstalled, and is deleted
 *                 after the last of them (`unused-content.ts`).
 * `pack-bytes`    the integrity under which a version was first installed. It stays when the pack is uninstalled.
 * `pack-set`      one per tenant, without content: its version grows with every change of the installed packs.
 *
 * The archive is stored as content under the same integrity; any process unpacks the code from it.
 */
import type { Requirements } from '@gantry/ai';
import type { PackNodeType } from '@gantry/engine';
import type { NodePackManifest, PromptTemplate, Provider, WorkflowChain } from '@gantry/packs';
import type { InstalledPack, PackGrant, RateLimit } from '@gantry/protocol';
import type { RecordKind } from '@gantry/resources';
import type { ArtifactTypeRecord } from './artifact-types/artifact-type-record.ts';
import type { NodeAuth } from './connections/node-auth.ts';

export type PackRecord = Omit<InstalledPack, 'granted' | 'shared' | 'surfaces'>;

/** A node type of a pack, ready to be compiled. */
export type PackNode = NonNullable<NodePackManifest['nodes']>[number];

/** Credentials that a node requires, by the node's own names. */
export interface NodeNeeds {
  readonly secrets: NonNullable<PackNode['requiresSecrets']>;
  readonly credentials: NonNullable<PackNode['requiredCredentials']>;
  /** The provider that it signs in with. */
  readonly auth?: NodeAuth;
}

export interface NodeRecord extends Omit<PackNodeType, 'packName' | 'packVersion' | 'integrity'> {
  /** Runtime capabilities that it needs, by the names of the discovery document. */
  readonly requires?: readonly string[];
  /** Credentials that are resolved before it runs. */
  readonly needs?: NodeNeeds;
  /** Capabilities that its model must have. */
  readonly model?: Requirements;
  /** How often the action of a connector may be dispatched. */
  readonly rateLimit?: RateLimit;
}

/** Code that runs in the sandbox; `entry` is a file of the pack. */
export interface SandboxedCode {
  readonly language: 'javascript' | 'wasm' | 'python';
  readonly entry: string;
  readonly format?: string;
  readonly memoryPagesMax?: number;
}

/** Code that runs elsewhere; `entry` is its address. */
export interface RemoteCode {
  readonly language: 'remote';
  readonly entry: string;
}

export type CodeRecord = SandboxedCode | RemoteCode;

/** The declarations of a pack that has neither nodes nor chains. */
export type Declared =
  | { readonly kind: 'connection'; readonly provider: Provider }
  | { readonly kind: 'prompt'; readonly prompts: readonly PromptTemplate[] }
  | { readonly kind: 'artifact-type'; readonly types: readonly ArtifactTypeRecord[] }
  | { readonly kind: 'card'; readonly cardTypeIds: readonly string[] }
  | { readonly kind: 'form-content'; readonly templateIds: readonly string[] };

export interface VersionRecord extends Pick<PackRecord, 'name' | 'version' | 'integrity' | 'source'> {
  readonly requires: readonly string[];
  /** Names of its peer dependencies. */
  readonly peers?: readonly string[];
  /** If `peers` names no surface: permissions for those that its code calls. */
  readonly surfaceAsks?: readonly string[];
  /** Descriptions of calls that cannot be determined. */
  readonly surfaceUnknowns?: readonly string[];
  readonly nodes: readonly NodeRecord[];
  readonly chains: readonly WorkflowChain[];
  /** Absent for packs without code. */
  readonly code?: CodeRecord;
  readonly declared?: Declared;
}

export interface GrantHolder {
  /** Absent if unsigned: then only the archives hold the grant. */
  readonly signer?: string;
  /** Archives that were installed with it, newest first. */
  readonly integrities: readonly string[];
  readonly requires: readonly string[];
  /** Its pack was uninstalled: the grant is valid only for active runs. */
  readonly ended?: boolean;
}

export interface GrantRecord {
  /** Newest first. */
  readonly holders: readonly GrantHolder[];
  /** Newest first. */
  readonly history: readonly PackGrant[];
}

/** The id of a record is the name, version or integrity that it describes. */
const kindOf = <R extends object>(kind: string): RecordKind<R> => ({ kind, idPrefix: kind });

export const packs = kindOf<PackRecord>('pack');
export const packGrants = kindOf<GrantRecord>('pack-grant');
export const packVersions = kindOf<VersionRecord>('pack-version');
export const packBytes = kindOf<Pick<PackRecord, 'integrity'>>('pack-bytes');
export const packSets = kindOf<Record<string, never>>('pack-set');

export const labelOf = ({ name, version }: Pick<PackRecord, 'name' | 'version'>): string =>
  `${name}@${version}`;
