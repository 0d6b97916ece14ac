/** The capabilities of this host. Only those that it serves end to end are listed. */

import { hash } from 'node:crypto';
import {
  type Api,
  CONTENT_ENCODINGS,
  DEFAULT_TENANT,
  notModified,
  RETENTION_SECONDS,
  ROTATION_GRACE_SECONDS,
  readPayload,
} from '@gantry/http';
import {
  CONFIGURABLE_RULES,
  DiscoveryDocument,
  ENGINE_VERSION,
  EVENT_LOG_SCHEMA_VERSION,
  EVENT_SCHEMA_VERSION,
  type JsonObject,
  PROTOCOL_VERSION,
} from '@gantry/protocol';
import { ENVELOPE_LIMITS, SCHEMA_VERSIONS } from '../ai/envelopes.ts';
import { envelopeFamily, modelCapabilityFamily, searchFamily } from '../ai/providers/advertisement.ts';
import { artifactTypeFacets } from '../packs/artifact-types/artifact-types.ts';
import type { PackRecords } from '../packs/pack-records.ts';
import { INVOCATION_RETENTION_MS } from '../runtime/retention.ts';
import { RETRY_AFTER_SECONDS } from '../runtime/run-errors.ts';
import type { ApiDeps } from './context.ts';
import { OAUTH_FAMILY, packsFamily } from './families.ts';
import { MOCK_PROVIDERS } from './runs.ts';

function discoveryDocument({ info }: Pick<ApiDeps, 'info'>): DiscoveryDocument {
  const { limits } = info;
  const { maxTokens: maxBudgetTokens, maxCostUsd: maxBudgetCostUsd } = limits.budget ?? {};
  const { recursionLimit, runTimeoutMs, maxLoopIterations, escalationThreshold, reasoningVerbosity } =
    CONFIGURABLE_RULES;
  return {
    protocolVersion: PROTOCOL_VERSION,
    supportedEnvelopes: Object.keys(SCHEMA_VERSIONS),
    schemaVersions: { 'run-event': EVENT_SCHEMA_VERSION, ...SCHEMA_VERSIONS },
    limits: {
      ...ENVELOPE_LIMITS,
      maxNodeExecutions: limits.maxNodeExecutions,
      maxRunDurationMs: limits.maxRunDurationMs,
      maxLoopIterations: limits.maxLoopIterations,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      ...(maxBudgetTokens !== undefined && { maxBudgetTokens }),
      ...(maxBudgetCostUsd !== undefined && { maxBudgetCostUsd }),
    },
    implementation: { name: info.name, version: info.version },
    engineVersion: ENGINE_VERSION,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: ['rest'],
    idempotency: {
      supported: true,
      layer1RetentionSeconds: RETENTION_SECONDS,
      layer2RetentionSeconds: INVOCATION_RETENTION_MS / 1_000,
      crossRegion: 'single-region',
    },
    runs: { pauseResume: { supported: true, drainPolicies: ['immediate', 'drain-current-node'] } },
    restTransport: { conditionalRunGet: true, contentEncodings: [...CONTENT_ENCODINGS] },
    debugBundle: { supported: true },
    production: {
      supported: true,
      backpressure: {
        supported: true,
        // No `inflightCap`: it promises to count requests, and the limit of this host counts runs in work
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
      retention: { supported: true, minWindowSeconds: info.retentionSeconds },
      debugBundle: { supported: true, truncationMetadata: true },
    },
    auth: {
      profiles: ['openwop-auth-api-key-rotation'],
      rotation: { supported: true, minGraceSeconds: ROTATION_GRACE_SECONDS },
    },
    configurable: {
      recursionLimit,
      runTimeoutMs,
      maxLoopIterations,
      escalationThreshold,
      reasoningVerbosity,
    },
    fixtures: [...info.fixtures],
  };
}

/** WebAssembly packs of the tenant `default`, which belong to the operator. */
async function wasmPacks(records: PackRecords): Promise<string[]> {
  const serving = [...(await records.serving(DEFAULT_TENANT)).values()];
  const versions = await Promise.all(serving.map(({ record }) => records.version(record.integrity)));
  return versions.flatMap(({ name, code }) => (code?.language === 'wasm' ? [name] : [])).sort();
}

/** Only the conformance suite uses it, and only with this pack. */
const SAMPLE_CHAINS = 'vendor.openwop.workflow-chain-sample';

async function expansionSeam({ seams }: ApiDeps, records: PackRecords): Promise<object> {
  const isServed = seams && (await records.versionsOf(DEFAULT_TENANT, SAMPLE_CHAINS)).length > 0;
  return isServed ? { workflowChainPacks: { supported: true, hostExpansionSeam: true } } : {};
}

function withLoaded(runtimes: unknown, loadedPacks: readonly string[]): object {
  if (typeof runtimes !== 'object' || runtimes === null || !('wasm' in runtimes)) return {};
  return { nodePackRuntimes: { ...runtimes, wasm: { ...Object(runtimes.wasm), loadedPacks } } };
}

interface Made {
  readonly body: string;
  readonly etag: string;
}

/** Members of the root that describe the document and are not capability families. */
const ABOUT = ['limits', 'implementation', 'schemaVersions'];

/** Older clients read families under `capabilities`, which v1 permits: the root is repeated there. */
function mirrored(root: object): object {
  const isFamily = ([name, value]: [string, unknown]): boolean =>
    typeof value === 'object' && !Array.isArray(value) && !ABOUT.includes(name);
  return { ...root, capabilities: Object.fromEntries(Object.entries(root).filter(isFamily)) };
}

export function discoveryRoute(app: Api, deps: ApiDeps): void {
  const { packs, oauth, providers: models } = deps.services;
  let made: { readonly of: string; readonly document: Promise<Made> } | undefined;
  // Made at the first request: whether this machine can isolate code is found out by trying.
  const make = async (aiProviders: JsonObject): Promise<Made> => {
    const families = await packs.families();
    const trusted = packsFamily(deps.registry, await packs.trust());
    const providers = await oauth.advertised.list();
    const { runtimeCapabilities } = packs;
    const oauthFamily = { ...OAUTH_FAMILY, providers };
    const modelCapabilities = modelCapabilityFamily(aiProviders, models, deps.seams);
    const told = {
      runtimeCapabilities,
      ...families,
      ...trusted,
      aiProviders,
      ...modelCapabilities,
      ...searchFamily(aiProviders),
      ...envelopeFamily(aiProviders, deps.seams),
      envelopeStrictness: 'warn',
      oauth: oauthFamily,
      ...(deps.seams && {
        testing: { mockProviders: MOCK_PROVIDERS },
        observability: { testSeams: { debugBundleExport: true } },
      }),
    };
    const runtimes = withLoaded(families.nodePackRuntimes, await wasmPacks(packs.records));
    const types = await artifactTypeFacets(packs.records, DEFAULT_TENANT);
    const artifactTypes = { ...Object(families.artifactTypes), types };
    const chains = await expansionSeam(deps, packs.records);
    const body = JSON.stringify(
      mirrored({ ...discoveryDocument(deps), ...told, artifactTypes, ...runtimes, ...chains }),
    );
    return { body, etag: `"${hash('sha256', body, 'hex').slice(0, 32)}"` };
  };
  const current = async (): Promise<Made> => {
    const aiProviders = await models.advertised();
    const of = JSON.stringify([oauth.advertised.revision, aiProviders]);
    if (made?.of === of) return made.document;
    const document = make(aiProviders);
    made = { of, document };
    document.catch(() => {
      made = undefined;
    });
    return document;
  };
  app.get(
    '/.well-known/openwop',
    {
      exposeHeadRoute: true,
      schema: { summary: 'What this host can do', response: { 200: DiscoveryDocument } },
    },
    async (request, reply) => {
      void reply.header('cache-control', 'public, max-age=300');
      const { body, etag } = await current();
      if (notModified(request, reply, etag)) return '';
      return readPayload(request, reply, body);
    },
  );
}
