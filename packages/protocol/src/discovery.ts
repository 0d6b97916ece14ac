import Type, { type Static } from 'typebox';
import { DrainPolicy } from './run.ts';
import { Count, closedObject, optional, Positive, Text } from './schema.ts';
import { MaskingMode } from './workflow.ts';

export const PROTOCOL_VERSION = '1.0';

const Names = Type.Array(Text, { uniqueItems: true });
const Uri = Type.String({ format: 'uri' });
const supported = { supported: Type.Boolean() };

export const Limits = closedObject({
  clarificationRounds: Count,
  schemaRounds: Count,
  envelopesPerTurn: Count,
  maxNodeExecutions: optional(Positive),
  maxRunDurationMs: optional(Type.Integer({ minimum: 1000 })),
  maxLoopIterations: optional(Positive),
  maxBudgetTokens: optional(Positive),
  maxBudgetCostUsd: optional(Type.Number({ minimum: 0 })),
  maxRequestBodyBytes: optional(Positive),
});

const Idempotency = Type.Object({
  ...supported,
  layer1RetentionSeconds: Count,
  layer2RetentionSeconds: Count,
  crossRegion: optional(Type.Enum(['single-region', 'reconciled-records', 'fenced-effects'])),
});

const RestTransport = closedObject({
  conditionalRunGet: Type.Boolean(),
  contentEncodings: Type.Array(Type.Enum(['gzip', 'br', 'zstd']), { uniqueItems: true }),
});

const Production = closedObject({
  ...supported,
  backpressure: optional(
    closedObject({
      ...supported,
      inflightCap: optional(Positive),
      retryAfterSeconds: optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
    }),
  ),
  retention: optional(
    closedObject({
      ...supported,
      minWindowSeconds: optional(Type.Integer({ minimum: 604_800 })),
      testForceExpire: optional(Type.Boolean()),
    }),
  ),
  debugBundle: optional(closedObject({ ...supported, truncationMetadata: optional(Type.Boolean()) })),
});

const Auth = Type.Object({
  profiles: optional(Names),
  rotation: optional(closedObject({ ...supported, minGraceSeconds: optional(Count) })),
  oauth2: optional(
    closedObject({
      ...supported,
      issuer: optional(Uri),
      audience: optional(Type.String()),
      supportedAlgorithms: optional(Names),
    }),
  ),
  oidc: optional(
    closedObject({
      ...supported,
      issuers: optional(Type.Array(Uri, { minItems: 1, uniqueItems: true })),
      audience: optional(Type.String()),
      supportedScopeMapping: optional(Type.Enum(['group-claim', 'scope-claim', 'host-acl'])),
      introspectionIntervalSeconds: optional(Count),
    }),
  ),
  mtls: optional(
    closedObject({
      ...supported,
      required: optional(Type.Boolean()),
      subjectMapping: optional(Type.Enum(['cn', 'san-dns', 'san-uri'])),
    }),
  ),
});

const Observability = Type.Object({
  otel: optional(
    Type.Object({
      exportProtocols: optional(
        Type.Array(Type.Enum(['http/json', 'http/protobuf', 'grpc']), { uniqueItems: true }),
      ),
    }),
  ),
  testSeams: optional(
    closedObject({ otelScrape: optional(Type.Boolean()), debugBundleExport: optional(Type.Boolean()) }),
  ),
});

const Testing = Type.Object({
  mockProviders: optional(Names),
  testKeyPrefix: optional(Type.String({ minLength: 1, maxLength: 32 })),
  forceEngineVersionRange: optional(closedObject({ min: Count, max: Count })),
});

/** The rule for one key of `configurable`. For a string, `min` and `max` limit its length. */
export const ConfigurableRule = Type.Object({
  type: Type.Enum(['integer', 'number', 'string', 'boolean', 'object']),
  min: optional(Type.Number()),
  max: optional(Type.Number()),
});
export type ConfigurableRule = Static<typeof ConfigurableRule>;

/** `/.well-known/openwop`. The root is open: an absent family is not offered. */
export const DiscoveryDocument = Type.Object({
  /** `MAJOR.MINOR`, nothing else: "1.0.0" is malformed. */
  protocolVersion: Type.String({ pattern: '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)$' }),
  supportedEnvelopes: Type.Array(Text),
  schemaVersions: Type.Record(Type.String(), Count),
  limits: Limits,
  implementation: optional(
    closedObject({ name: Type.String(), version: Type.String(), vendor: optional(Type.String()) }),
  ),
  engineVersion: optional(Count),
  eventLogSchemaVersion: optional(Count),
  supportedTransports: optional(Type.Array(Type.Enum(['rest', 'mcp', 'a2a', 'grpc']))),
  minClientVersion: optional(Type.String()),
  idempotency: optional(Idempotency),
  runs: optional(
    Type.Object({
      pauseResume: optional(Type.Object({ ...supported, drainPolicies: Type.Array(DrainPolicy) })),
    }),
  ),
  restTransport: optional(RestTransport),
  production: optional(Production),
  debugBundle: optional(Type.Object(supported)),
  auth: optional(Auth),
  fixtures: optional(Names),
  runtimeCapabilities: optional(Names),
  compliance: optional(
    Type.Object({
      defaultMode: optional(MaskingMode),
      supportedClasses: optional(
        Type.Array(Type.Enum(['public', 'pii', 'phi', 'pci', 'regulated']), { uniqueItems: true }),
      ),
    }),
  ),
  observability: optional(Observability),
  configurable: optional(Type.Record(Type.String(), ConfigurableRule)),
  testing: optional(Testing),
});
export type DiscoveryDocument = Static<typeof DiscoveryDocument>;
