/** What this host offers to packs. */
import { NODE_TYPES } from '@gantry/engine';
import { type HostOffer, RUNTIME_REQUIREMENTS } from '@gantry/packs';

/** Starting programs is refused whatever anyone grants. */
export const GRANTABLE: readonly string[] = RUNTIME_REQUIREMENTS.filter((id) => id !== 'subprocess');

export const WASM_ABI_VERSIONS: readonly number[] = [1];

/** Capabilities that pack code can rely on, by the names of the discovery document. */
const CAPABILITIES = [
  'sandbox',
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

export const offerWith = (grants: readonly string[]): HostOffer => ({
  protocolVersion: ENGINES_VERSION,
  capabilities: new Map(CAPABILITIES.map((name) => [name, []])),
  languages: new Set(['javascript']),
  wasmAbiVersions: WASM_ABI_VERSIONS,
  grants: grants.filter((grant) => GRANTABLE.includes(grant)),
  kinds: new Set(['node', 'workflow-chain']),
  builtInTypeIds: new Set(NODE_TYPES.keys()),
});
