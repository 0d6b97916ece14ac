/** The offer of this host to packs. */
import { OWN_TYPE_IDS } from '@gantry/engine';
import {
  type HostOffer,
  type PackKind,
  type PackManifest,
  RUNTIME_REQUIREMENTS,
  surfaceGrant,
} from '@gantry/packs';
import { flagsOf, GRANTABLE_SURFACES, isAdvertised } from '@gantry/protocol';
import { ADD_PROVIDER } from '../ai/providers/advertisement.ts';
import type { Families } from '../api/families.ts';

export const SURFACE_GRANTS: readonly string[] = GRANTABLE_SURFACES.map(surfaceGrant);

/** Starting programs can never be granted. */
export const GRANTABLE: readonly string[] = [
  ...RUNTIME_REQUIREMENTS.filter((id) => id !== 'subprocess'),
  ...SURFACE_GRANTS,
];

export const WASM_ABI_VERSIONS: readonly number[] = [1];

/** The minor version of the protocol for packs and workflows; the wire protocol reports only `1.0`. */
export const ENGINES_VERSION = '1.2.0';

/** Every kind except `frontend-plugin`: this host has no pages for plugins, and does not advertise `uiPlugins`. */
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
  /** Capabilities of the surfaces, by their literals. */
  readonly surfaces: HostOffer['capabilities'];
  /** Names that models satisfy now; they change with the keys. */
  readonly models: () => Promise<readonly [string, readonly string[]][]>;
  /** Checked when a pack requires it. */
  readonly hasPython: () => Promise<boolean>;
}

/** Everything that a pack may rely on here, without any grants. */
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
      advice: { aiProviders: ADD_PROVIDER, aiEnvelope: ADD_PROVIDER, webSearch: ADD_PROVIDER },
      languages: new Set(['javascript', 'remote', ...(python ? (['python'] as const) : [])]),
      wasmAbiVersions: WASM_ABI_VERSIONS,
      grants: [],
      kinds: new Set(KINDS),
      builtInTypeIds: OWN_TYPE_IDS,
    };
  };

/** Names for peer dependencies: each offered family, with its flags. */
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
