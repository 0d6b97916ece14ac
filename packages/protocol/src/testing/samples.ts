/** Documents written by hand, one for each shape, used by the tests of this package. */
import type {
  DebugBundle,
  DiscoveryDocument,
  EventPayloads,
  RunSnapshot,
  WorkflowDefinition,
} from '../index.ts';
import { childPayloads } from './samples-children.ts';
import { interruptPayloads } from './samples-interrupt.ts';

const RUN_ID = 'run_01k5v2h0q8m3x9t4z7c6b1n0da';
const owner = { tenant: 'acme', workspace: 'north', principal: 'key_7' };
const error = { code: 'node_timeout', message: 'The node exceeded its time limit.', details: { ms: 50 } };

export const payloads: EventPayloads = {
  ...interruptPayloads,
  ...childPayloads,
  'run.started': {
    workflowId: 'invoice',
    inputs: { amount: 3 },
    transport: 'rest',
    engineVersion: '1',
    owner,
    tags: ['nightly'],
    metadata: { ticket: 'A-1' },
  },
  'run.completed': { outputs: { total: 4 }, durationMs: 12 },
  'run.failed': { error: { ...error, retryable: false }, failedNodeId: 'a', durationMs: 12 },
  'run.dead_lettered': { runId: RUN_ID, reason: 'node_timeout', attempts: 3, nodeId: 'a' },
  'run.cancelled': { reason: 'parent-cancelled', cancelledBy: 'key_7', durationMs: 1, parentRunId: RUN_ID },
  'run.paused': { reason: 'lunch', drainPolicy: 'drain-current-node' },
  'run.resumed': { reason: 'back' },
  'replay.diverged': {
    sourceRunId: RUN_ID,
    atSequence: 4,
    originalEventId: `${RUN_ID}.4`,
    divergenceKind: 'output',
    divergencePoint: 'node.completed',
  },
  'node.started': { nodeId: 'a', typeId: 'core.noop', attempt: 0 },
  'node.completed': { nodeId: 'a', outputs: { total: 4 }, durationMs: 3 },
  'node.failed': { nodeId: 'a', error, attempts: 2 },
  'node.retried': { nodeId: 'a', attempt: 1, delayMs: 100, lastError: { ...error, retryable: true } },
  'node.skipped': { nodeId: 'b', reason: 'no edge was taken' },
  'node.cancelled': { nodeId: 'b', reason: 'run cancelled' },
  'channel.written': {
    channel: 'votes',
    value: { userId: 'u1', action: 'accept' },
    reducer: 'votes',
    writtenAt: '2026-08-01T10:00:00.000Z',
    nodeId: 'a',
    schemaVersion: 1,
    sourceEngineId: 'engine-2',
    sourceRunId: RUN_ID,
  },
  'version.pinned': { changeId: 'retry-rules', version: 3 },
  'variable.changed': { name: 'total', previous: null, next: 4, nodeId: 'a' },
  'artifact.created': {
    artifactId: 'note',
    artifactType: 'vendor.acme.note',
    nodeId: 'note',
    version: '2',
    summary: 'Hello',
    registered: true,
    registrationSource: 'pack',
    registeredBy: 'key_1',
  },
  'log.appended': { level: 'warn', message: 'slow', nodeId: 'a', fields: { ms: 900 } },
  'workflow.loopback-limit': { nodeId: 'a', iterations: 6, limit: 5 },
  'workflow.stalled': { stalledForMs: 60_000, lastNodeId: 'a' },
  'connector.authorized': { provider: 'acme', credentialRef: 'conn_1', scopes: ['entries.read'] },
  'connector.auth_expired': { provider: 'acme', credentialRef: 'conn_1', reason: 'Revoked.' },
  'cap.breached': { kind: 'node-executions', limit: 3, observed: 4, nodeId: 'd' },
  'output.chunk': {
    nodeId: 'a',
    runId: RUN_ID,
    chunk: 'hello',
    isLast: true,
    channel: 'main',
    meta: {
      finishReason: 'stop',
      model: 'm',
      usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
    },
  },
};

export const snapshot: RunSnapshot = {
  runId: RUN_ID,
  workflowId: 'invoice',
  status: 'failed',
  owner,
  currentNodeId: 'a',
  startedAt: '2026-09-01T10:00:00.000Z',
  completedAt: '2026-09-01T10:00:01.500Z',
  nodeStates: { a: { status: 'failed' } },
  inputs: { amount: 3 },
  outputs: {},
  variables: { total: 4 },
  channels: {},
  error,
  engineVersion: '1',
  eventLogSchemaVersion: 2,
  tags: ['nightly'],
  metadata: { ticket: 'A-1' },
  configurable: { recursionLimit: 10 },
  metrics: {
    openwopCost: { usd: 0.2, tokens: { input: 3, output: 4 }, model: 'm', provider: 'p', duration_ms: 7 },
  },
};

export const discovery: DiscoveryDocument = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: { 'run-event': 1 },
  limits: {
    clarificationRounds: 3,
    schemaRounds: 2,
    envelopesPerTurn: 5,
    maxNodeExecutions: 100,
    maxRunDurationMs: 3_600_000,
    maxRequestBodyBytes: 1_048_576,
  },
  implementation: { name: 'gantry', version: '0.1.0', vendor: 'gantry' },
  engineVersion: 1,
  eventLogSchemaVersion: 2,
  supportedTransports: ['rest'],
  idempotency: {
    supported: true,
    layer1RetentionSeconds: 86_400,
    layer2RetentionSeconds: 1_209_600,
    crossRegion: 'single-region',
  },
  runs: { pauseResume: { supported: true, drainPolicies: ['immediate', 'drain-current-node'] } },
  restTransport: { conditionalRunGet: true, contentEncodings: ['gzip', 'br'] },
  production: {
    supported: true,
    backpressure: { supported: true, inflightCap: 1000, retryAfterSeconds: 1 },
    retention: { supported: true, minWindowSeconds: 604_800 },
    debugBundle: { supported: true, truncationMetadata: true },
  },
  debugBundle: { supported: true },
  auth: {
    profiles: ['openwop-auth-api-key-rotation'],
    rotation: { supported: true, minGraceSeconds: 86_400 },
    oidc: { supported: true, issuers: ['https://id.example.com'], audience: 'gantry' },
  },
  fixtures: ['conformance-noop'],
  runtimeCapabilities: ['clock'],
  compliance: { defaultMode: 'mask', supportedClasses: ['public', 'pii'] },
  observability: { otel: { exportProtocols: ['http/json'] } },
  configurable: { recursionLimit: { type: 'integer', min: 1, max: 100 } },
  testing: { testKeyPrefix: 'hk_test_' },
};

export const debugBundle: DebugBundle = {
  bundleVersion: '1.0',
  generatedAt: '2026-09-01T10:00:02.000Z',
  host: { name: 'gantry', version: '0.1.0' },
  run: snapshot,
  events: [
    {
      eventId: `${RUN_ID}.0`,
      runId: RUN_ID,
      type: 'run.started',
      payload: payloads['run.started'],
      timestamp: '2026-09-01T10:00:00.000Z',
      sequence: 0,
      schemaVersion: 1,
      engineVersion: '1',
    },
  ],
  spans: [
    {
      name: 'openwop.run',
      spanId: '00f067aa0ba902b7',
      parentSpanId: null,
      startedAt: '2026-09-01T10:00:00.000Z',
      endedAt: '2026-09-01T10:00:01.500Z',
      attributes: { 'openwop.run_id': RUN_ID },
    },
  ],
  metrics: { openwopCost: null, nodeCount: 1, eventCount: 1 },
  redactionApplied: true,
  redactionMode: 'mask',
  truncated: true,
  truncatedReason: 'events_truncated_to_size_cap',
};

/** Uses every closed level of a definition. */
export const workflow: WorkflowDefinition = {
  id: 'invoice',
  name: 'Invoice',
  version: '1.0.0',
  nodes: [
    {
      id: 'a',
      typeId: 'core.identity',
      name: 'A',
      position: { x: 0, y: 0 },
      config: { anything: true },
      inputs: {
        fixed: { type: 'static', value: null },
        computed: { type: 'expression', expression: '1 + 1' },
        upstream: { type: 'connection', nodeId: 'b', outputKey: 'output', optional: true },
        total: { type: 'variable', variableName: 'total' },
      },
      outputSensitivity: { output: true },
    },
    { id: 'b', typeId: 'core.noop', name: 'B', position: { x: 1, y: 0 }, config: {}, inputs: {} },
  ],
  edges: [
    {
      id: 'e',
      sourceNodeId: 'a',
      targetNodeId: 'b',
      condition: { type: 'equals', left: 'status', right: 'ok' },
      triggerRule: 'any_success',
    },
  ],
  triggers: [{ id: 't', type: 'manual', enabled: true }],
  variables: [{ name: 'total', type: 'number', defaultValue: 0, sensitive: true }],
  groups: [{ id: 'g', name: 'G', nodeIds: ['a'], position: { x: 0, y: 0 }, size: { width: 10, height: 10 } }],
  channels: { notes: { reducer: 'append', access: { readers: ['*'] } } },
  defaults: { promptRefs: {} },
  metadata: { tags: ['finance'], complianceClass: 'pii', complianceConfig: { maskingMode: 'hash' } },
  settings: { timeout: 0, maxRetries: 1, logLevel: 'info', maxLoopbackIterations: 5 },
};
