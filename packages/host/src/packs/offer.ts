/** What this host offers to packs. */
import { NODE_TYPES } from '@gantry/engine';
import {
  type HostOffer,
  type PackKind,
  type PackManifest,
  RUNTIME_REQUIREMENTS,
  surfaceGrant,
} from '@gantry/packs';
import { capabilityName, SURFACE_NAMES } from '@gantry/protocol';

export const SURFACE_GRANTS: readonly string[] = SURFACE_NAMES.map(({ capability }) =>
  surfaceGrant(capability),
);

/** Starting programs is refused whatever anyone grants. */
export const GRANTABLE: readonly string[] = [
  ...RUNTIME_REQUIREMENTS.filter((id) => id !== 'subprocess'),
  ...SURFACE_GRANTS,
];

export const WASM_ABI_VERSIONS: readonly number[] = [1];

/** Capabilities of the host itself that pack code can rely on, by the names of the discovery document. */
const CAPABILITIES = [
  'conversationPrimitive',
  'dispatch',
  'subWorkflow',
  'scheduling',
  'heartbeat',
  'triggerBridge',
  'webhooks',
  'replay',
];

/** The minor of the protocol whose packs are understood here; the wire itself says only `1.0`. */
const ENGINES_VERSION = '1.1.0';

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
  /** What `ctx` serves beside the host itself. */
  readonly surfaces: HostOffer['capabilities'];
  /** Looked for when a pack asks for it. */
  readonly hasPython: () => Promise<boolean>;
  /** Whether the operating system stands between packs and the machine. Found out when a pack asks for it. */
  readonly isIsolated: () => Promise<boolean>;
}

/** What a pack may rely on here, before anything is granted to it. */
export type Offer = (manifest: PackManifest) => Promise<HostOffer>;

export const createOffer =
  ({ surfaces, hasPython, isIsolated }: OfferOptions): Offer =>
  async (manifest) => {
    const asksForPython = manifest.kind === 'node' && manifest.runtime.language === 'python';
    const python = asksForPython && (await hasPython());
    const asksForSandbox = Object.keys(manifest.peerDependencies ?? {}).some(
      (name) => capabilityName(name) === 'sandbox',
    );
    const own = asksForSandbox && (await isIsolated()) ? ['sandbox', ...CAPABILITIES] : CAPABILITIES;
    return {
      protocolVersion: ENGINES_VERSION,
      capabilities: new Map([...own.map((name) => [name, []] as const), ...surfaces]),
      languages: new Set(['javascript', 'remote', ...(python ? (['python'] as const) : [])]),
      wasmAbiVersions: WASM_ABI_VERSIONS,
      grants: [],
      kinds: new Set(KINDS),
      builtInTypeIds: new Set(NODE_TYPES.keys()),
    };
  };

export const granting = (offer: HostOffer, grants: readonly string[]): HostOffer => ({
  ...offer,
  grants: grants.filter((grant) => GRANTABLE.includes(grant)),
});
