/** What this host offers to packs. */
import { OWN_TYPE_IDS } from '@gantry/engine';
import {
  type HostOffer,
  type PackKind,
  type PackManifest,
  RUNTIME_REQUIREMENTS,
  surfaceGrant,
} from '@gantry/packs';
import { flagsOf, isAdvertised, SURFACE_NAMES } from '@gantry/protocol';
import type { Families } from '../api/families.ts';

export const SURFACE_GRANTS: readonly string[] = SURFACE_NAMES.map(({ capability }) =>
  surfaceGrant(capability),
);

/** Starting programs is refused whatever anyone grants. */
export const GRANTABLE: readonly string[] = [
  ...RUNTIME_REQUIREMENTS.filter((id) => id !== 'subprocess'),
  ...SURFACE_GRANTS,
];

export const WASM_ABI_VERSIONS: readonly number[] = [1];

/** The minor of the protocol whose packs and workflows are understood here; the wire itself says only `1.0`. */
export const ENGINES_VERSION = '1.2.0';

/** Every kind but `frontend-plugin`: this host has no pages to put plugins into, and does not say `uiPlugins`. */
const KINDS: readonly PackKind[] = [
  'node',
  'workflow-chain',
  'connection',
  'prompt',
  'artifact-type',
  'card',
  'form-content',
];

export interface OfferOptions {
  /** Every capability family of the discovery document. */
  readonly families: () => Promise<Families>;
  /** What surfaces satisfy by the rules of their literals. */
  readonly surfaces: HostOffer['capabilities'];
  /** Names that models satisfy now: keys come and go. */
  readonly models: () => Promise<readonly [string, readonly string[]][]>;
  /** Looked for when a pack asks for it. */
  readonly hasPython: () => Promise<boolean>;
}

/** What a pack may rely on here, before anything is granted to it. */
export type Offer = (manifest: PackManifest) => Promise<HostOffer>;

export const createOffer =
  ({ families, surfaces, models, hasPython }: OfferOptions): Offer =>
  async (manifest) => {
    const asksForPython = manifest.kind === 'node' && manifest.runtime.language === 'python';
    const python = asksForPython && (await hasPython());
    const asksForHost = Object.keys(manifest.peerDependencies ?? {}).length > 0;
    return {
      protocolVersion: ENGINES_VERSION,
      capabilities: new Map([
        ...(asksForHost ? advertised(await families()) : []),
        ...surfaces,
        ...(asksForHost ? await models() : []),
      ]),
      languages: new Set(['javascript', 'remote', ...(python ? (['python'] as const) : [])]),
      wasmAbiVersions: WASM_ABI_VERSIONS,
      grants: [],
      kinds: new Set(KINDS),
      builtInTypeIds: OWN_TYPE_IDS,
    };
  };

/** What peer dependencies can ask for: each family that is offered, with its flags. */
export const advertised = (families: Families): [string, readonly string[]][] =>
  Object.entries(families)
    .filter(([, family]) => isAdvertised(family))
    .flatMap(([name, family]) => {
      const flags = flagsOf(family);
      return [[name, flags], ...flags.map((flag): [string, readonly string[]] => [`${name}.${flag}`, []])];
    });

export const granting = (offer: HostOffer, grants: readonly string[]): HostOffer => ({
  ...offer,
  grants: grants.filter((grant) => GRANTABLE.includes(grant)),
});
