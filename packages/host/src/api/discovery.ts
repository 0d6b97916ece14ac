/** What this host can do. Only what it serves end to end is said. */

import { hash } from 'node:crypto';
import {
  type Api,
  CONTENT_ENCODINGS,
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
  PROTOCOL_VERSION,
} from '@gantry/protocol';
import { RETRY_AFTER_SECONDS } from '../runtime/remote.ts';
import { INVOCATION_RETENTION_MS } from '../runtime/retention.ts';
import type { ApiDeps } from './context.ts';
import { OAUTH_FAMILY, packsFamily } from './families.ts';

function discoveryDocument({ info, runtime }: Pick<ApiDeps, 'info' | 'runtime'>): DiscoveryDocument {
  const { limits } = info;
  const { recursionLimit, runTimeoutMs, maxLoopIterations, escalationThreshold, reasoningVerbosity } =
    CONFIGURABLE_RULES;
  return {
    protocolVersion: PROTOCOL_VERSION,
    supportedEnvelopes: [],
    schemaVersions: { 'run-event': EVENT_SCHEMA_VERSION },
    limits: {
      clarificationRounds: 3,
      schemaRounds: 2,
      envelopesPerTurn: 5,
      maxNodeExecutions: limits.maxNodeExecutions,
      maxRunDurationMs: limits.maxRunDurationMs,
      maxLoopIterations: limits.maxLoopIterations,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
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
        inflightCap: runtime.inflightCap,
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

interface Made {
  readonly body: string;
  readonly etag: string;
}

/** Members of the root that say what the document is about, and are no families. */
const ABOUT = ['limits', 'implementation', 'schemaVersions'];

/** Older clients read families under `capabilities`, which v1 tolerates: the root is repeated there. */
function mirrored(root: object): object {
  const isFamily = ([name, value]: [string, unknown]): boolean =>
    typeof value === 'object' && !Array.isArray(value) && !ABOUT.includes(name);
  return { ...root, capabilities: Object.fromEntries(Object.entries(root).filter(isFamily)) };
}

export function discoveryRoute(app: Api, deps: ApiDeps): void {
  const { packs, oauth } = deps.services;
  let made: { readonly revision: number; readonly document: Promise<Made> } | undefined;
  // Made when it is first asked for: whether this machine isolates is found out by trying.
  const make = async (): Promise<Made> => {
    const families = await packs.families();
    const trusted = packsFamily(deps.registry, await packs.trust());
    const providers = await oauth.advertised.list();
    const told = { ...families, ...trusted, oauth: { ...OAUTH_FAMILY, providers } };
    const body = JSON.stringify(mirrored({ ...discoveryDocument(deps), ...told }));
    return { body, etag: `"${hash('sha256', body, 'hex').slice(0, 32)}"` };
  };
  const current = (): Promise<Made> => {
    const { revision } = oauth.advertised;
    if (made?.revision === revision) return made.document;
    const document = make();
    made = { revision, document };
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
