/**
 * What the store holds of packs.
 *
 * `pack`          an installation: one tenant, one name, one version. `*` is the operator's, for every tenant.
 * `pack-grant`    what a tenant lets a pack do, with who granted it when.
 * `pack-version`  what compiling and running need to know of one archive; by its integrity, for every tenant,
 *                 as definitions are kept. Runs are pinned to it, so it stays when the pack is uninstalled, and goes
 *                 with the last of them (`unused-content.ts`).
 * `pack-bytes`    the integrity under which a version was first installed. It stays when the pack is uninstalled.
 *
 * The archive itself is content under the same integrity, from which any process unpacks the code.
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

/** Credentials that a node asks for, by its own names for them. */
export interface NodeNeeds {
  readonly secrets: NonNullable<PackNode['requiresSecrets']>;
  readonly credentials: NonNullable<PackNode['requiredCredentials']>;
  /** The provider that it signs in with. */
  readonly auth?: NodeAuth;
}

export interface NodeRecord extends Omit<PackNodeType, 'packName' | 'packVersion' | 'integrity'> {
  /** Runtime capabilities that it needs, by the names of the discovery document. */
  readonly requires?: readonly string[];
  /** What is looked up before it runs. */
  readonly needs?: NodeNeeds;
  /** What a model has to be able to do for it. */
  readonly model?: Requirements;
  /** Of the action of a connector: how often it may be dispatched. */
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

/** What a pack declares whose kind is neither nodes nor chains. */
export type Declared =
  | { readonly kind: 'connection'; readonly provider: Provider }
  | { readonly kind: 'prompt'; readonly prompts: readonly PromptTemplate[] }
  | { readonly kind: 'artifact-type'; readonly types: readonly ArtifactTypeRecord[] }
  | { readonly kind: 'card'; readonly cardTypeIds: readonly string[] }
  | { readonly kind: 'form-content'; readonly templateIds: readonly string[] };

export interface VersionRecord extends Pick<PackRecord, 'name' | 'version' | 'integrity' | 'source'> {
  readonly requires: readonly string[];
  /** What it asks of the host, by name. */
  readonly peers?: readonly string[];
  /** Where `peers` names no surface: permissions for those that its code calls. */
  readonly surfaceAsks?: readonly string[];
  /** What cannot be determined about them, in words. */
  readonly surfaceUnknowns?: readonly string[];
  readonly nodes: readonly NodeRecord[];
  readonly chains: readonly WorkflowChain[];
  /** Absent for packs that bring no code. */
  readonly code?: CodeRecord;
  readonly declared?: Declared;
}

export interface GrantHolder {
  /** Absent when nobody signed: then the archives alone hold it. */
  readonly signer?: string;
  /** Archives that were installed with it, the last first. */
  readonly integrities: readonly string[];
  readonly requires: readonly string[];
  /** Its pack was uninstalled: it counts for runs under way alone. */
  readonly ended?: boolean;
}

export interface GrantRecord {
  /** The last first. */
  readonly holders: readonly GrantHolder[];
  /** Newest first. */
  readonly history: readonly PackGrant[];
}

/** Ids of records are what they are about: a name, a version, an integrity. */
const kindOf = <R extends object>(kind: string): RecordKind<R> => ({ kind, idPrefix: kind });

export const packs = kindOf<PackRecord>('pack');
export const packGrants = kindOf<GrantRecord>('pack-grant');
export const packVersions = kindOf<VersionRecord>('pack-version');
export const packBytes = kindOf<Pick<PackRecord, 'integrity'>>('pack-bytes');

export const labelOf = ({ name, version }: Pick<PackRecord, 'name' | 'version'>): string =>
  `${name}@${version}`;
