/** Capability families of orchestration: people, children, replay and time. */
import { DISPATCH_MAX_FAN_OUT, FAILURE_MODES, JOIN_MODES } from '@gantry/engine';
import { SIGNATURE_COVERS } from '@gantry/packs';
import {
  CREDENTIALS_CAPABILITY,
  HEARTBEAT_CAPABILITY,
  MISSED_TICKS_CAPABILITY,
  SCHEDULING_CAPABILITY,
  TRIGGER_BRIDGE_CAPABILITY,
} from '@gantry/protocol';
import { STRUCTURED_LIMITS } from '../ai/structured.ts';
import { GRANTS } from '../oauth/advertised.ts';
import { ARTIFACT_FACETS } from '../packs/artifact-types/artifact-types.ts';
import { WASM_ABI_VERSIONS } from '../packs/offer.ts';
import type { PackLimits } from '../packs/packs.ts';
import type { Sandboxes } from '../packs/sandboxes.ts';
import type { HostTrust } from '../packs/trust.ts';
import { TEMPLATE_BYTES_MAX } from '../prompts/checked-prompts.ts';
import type { Surfaces } from '../surfaces/surfaces.ts';
import type { ApiDeps, HostInfo } from './context.ts';
import { PROMPT_KINDS, RENDER_BYTES_MAX } from './prompts.ts';

/** Part of the discovery document, by name. */
export type Families = Readonly<Record<string, unknown>>;

export type FamilyFacts = Pick<HostInfo, 'name' | 'retentionSeconds' | 'budgetEnforce'>;

const SECONDS_PER_DAY = 86_400;

const orchestrationFamilies = ({ name, retentionSeconds, budgetEnforce }: FamilyFacts) => ({
  budget: {
    supported: true,
    dimensions: ['tokens', 'cost', 'toolCalls', 'retries', 'model'],
    enforce: budgetEnforce,
    scopes: ['run', 'workflow', 'project'],
  },
  conversationPrimitive: true,
  interrupt: { approverRouting: { supported: true, refKinds: ['role'], audience: false } },
  authorization: { supported: true, failClosed: true, roles: [] },
  agents: {
    supported: true,
    orchestrator: true,
    dispatch: true,
    dispatchMapping: true,
    subRunAttestation: true,
    reasoning: { verbosity: 'summary', streaming: true },
  },
  multiAgent: {
    executionModel: {
      supported: true,
      version: 3,
      confidenceEscalationFloor: 0.5,
      confidenceEscalationInterruptKind: 'approval',
      crossHostCausation: { supported: true, hostId: name, ancestryEndpointSupported: true },
    },
  },
  orchestrator: { supported: true },
  dispatch: {
    supported: true,
    models: ['child-run'],
    fanOutSupported: true,
    fanOutPolicies: ['sequential', 'reject', 'parallel'],
    joinModes: [...JOIN_MODES],
    onChildFailureModes: [...FAILURE_MODES],
    maxFanOut: DISPATCH_MAX_FAN_OUT,
  },
  subWorkflow: { inputMapping: true },
  workflowChainPacks: { supported: true },
  replay: { supported: true, modes: ['replay', 'branch'], sideEffectSuppression: 'recorded-outcome' },
  webhooks: { supported: true, signatureAlgorithms: ['v1'], durable: true },
  credentials: CREDENTIALS_CAPABILITY,
  scheduling: SCHEDULING_CAPABILITY,
  'x-host-gantry-scheduling': MISSED_TICKS_CAPABILITY,
  heartbeat: HEARTBEAT_CAPABILITY,
  deadLetter: { supported: true, retentionDays: Math.floor(retentionSeconds / SECONDS_PER_DAY) },
  triggerBridge: TRIGGER_BRIDGE_CAPABILITY,
  providerUsage: { supported: true, costEstimates: true, currency: 'USD' },
  toolHooks: { supported: true, prePostEvents: true, perToolAuthorization: true, perToolRateLimit: true },
});

const ENVELOPES = {
  reliability: {
    supported: true,
    events: [
      'envelope.retry.attempted',
      'envelope.retry.exhausted',
      'envelope.refusal',
      'envelope.truncated',
      'envelope.nlToFormat.engaged',
      'envelope.recovery.applied',
    ],
    maxRetryAttempts: STRUCTURED_LIMITS.attemptsMax,
    completion: {
      distinguishesTruncation: true,
      truncationBudgetMultiplier: STRUCTURED_LIMITS.truncationMultiplier,
    },
  },
};

/** Host functions that pack code may call once they are granted. */
const HOST_CALLS = ['host.fetch', 'host.dns'];

const PROMPTS = {
  supported: true,
  endpointsSupported: true,
  packsSupported: true,
  mutableLibrary: true,
  templateKinds: PROMPT_KINDS,
  variableSources: ['input', 'variable', 'context'],
  maxTemplateBytes: TEMPLATE_BYTES_MAX,
  observability: 'full',
  library: { renderEndpoint: '/v1/prompts:render', maxRenderRequestBytes: RENDER_BYTES_MAX },
};

/** The discovery document adds the providers. */
export const OAUTH_FAMILY = { supported: true, grants: [...GRANTS] };

const TEST_MODE = { supported: true, isolated: true, catalogResetEndpoint: '/v1/packs-test/-/reset' };

/**
 * The public shape of `packs` is closed, so the accepted signatures and their required coverage are in our own family.
 */
export const packsFamily = (registry: ApiDeps['registry'], trust: HostTrust) => ({
  packSignatures: {
    methods: ['manual', 'ed25519', ...(trust.sigstore ? ['sigstore'] : [])],
    covers: SIGNATURE_COVERS,
    demands: trust.demands,
  },
  ...(registry?.testNamespace && { packs: { testMode: TEST_MODE } }),
});

/** The sandbox is advertised only where the operating system isolates processes. */
const packFamilies = (
  { limits }: { readonly limits: PackLimits },
  { families, hostCalls }: Pick<Surfaces, 'families' | 'hostCalls'>,
  {
    isolation,
    python,
  }: { readonly isolation: 'os' | 'permission-only' | 'none'; readonly python: string | undefined },
) => ({
  prompts: PROMPTS,
  /** The discovery document adds the types. */
  artifactTypes: { supported: true, ...ARTIFACT_FACETS },
  envelopes: ENVELOPES,
  connections: { supported: true, packsSupported: true },
  oauth: OAUTH_FAMILY,
  ...families,
  ...(isolation === 'os' && {
    sandbox: {
      supported: true,
      isolationModel: 'process',
      allowedHostCalls: [...HOST_CALLS, ...hostCalls],
      memoryLimitBytes: limits.memoryBytes,
      wallClockLimitMs: limits.wallClockMs,
    },
  }),
  ...(isolation !== 'none' && {
    nodePackRuntimes: {
      javascript: { supported: true },
      ...(python !== undefined && { python: { supported: true, version: python } }),
      remote: { supported: true },
      wasm: {
        supported: true,
        abiVersions: [...WASM_ABI_VERSIONS],
        maxMemoryBytes: limits.memoryBytes,
        maxExecutionMs: limits.wallClockMs,
      },
    },
  }),
});

/** Every capability family of the discovery document. The sandbox of this machine is probed. */
export const capabilityFamilies = async (
  facts: FamilyFacts,
  packs: { readonly limits: PackLimits; readonly sandboxes: Sandboxes },
  surfaces: Pick<Surfaces, 'families' | 'hostCalls'>,
): Promise<Families> => {
  const isolation = await packs.sandboxes.isolation();
  const python = await packs.sandboxes.python();
  return { ...orchestrationFamilies(facts), ...packFamilies(packs, surfaces, { isolation, python }) };
};
