/** Routes of the public conformance suite. */
import { type Api, type Caller, callerOf } from '@gantry/http';
import { type Scope, Values } from '@gantry/protocol';
import type { Static, TSchema } from 'typebox';

/** Seams by their path below `/v1/host/sample/`, POST unless a method is given: the summary and the required scopes. */
export const SEAMS = {
  'a2ui/emit-surface': ['Let a run receive a surface', 'runs:create'],
  'GET a2ui/materialized': ['The last surface of a run, in full', 'runs:read'],
  'agentloop/run': ['Let a supervisor take its turns', 'runs:create', 'approvals:respond'],
  'ai/call': ['Ask a model from a node of a run', 'runs:create'],
  'ai/call-speech-synthesizer': ['Let a node of a run make speech', 'runs:create'],
  'ai/call-transcriber': ['Let a node of a run transcribe live audio', 'runs:create'],
  'ai/generate': ['Let a node of a run ask a model for an envelope', 'runs:create'],
  'artifacttypes/install': ['Install an artifact-type pack from its manifest and schemas', 'packs:install'],
  'artifacttypes/produce': ['Let a run produce an artifact', 'workflows:write', 'runs:create'],
  'artifacttypes/runproduce': [
    'Let a run produce some artifact of a type',
    'packs:install',
    'workflows:write',
    'runs:create',
  ],
  'GET assets/{mediaId}': ['Read media that a run keeps', 'runs:read'],
  'authorization/decide': ['Whether a principal may do something', 'keys:manage'],
  'budget/run': [
    'Let a run use up its budget, or ask for a model that it denies',
    'workflows:write',
    'runs:create',
    'runs:read',
  ],
  'chain/deferred-expand': ['Expand a chain for later', 'workflows:write', 'runs:create'],
  'connection-packs/consent-plan': ['The steps that people are asked to consent to', 'packs:read'],
  'connection-packs/egress-check': ['Whether credentials of a provider may go to a host', 'packs:read'],
  'connection-packs/install': ['Install a connection pack from its manifest', 'packs:install'],
  'connection-packs/resolve': ['The pack or built-in that describes a provider', 'packs:read'],
  'credentials/echo': [
    'Let a node show the value of a credential, and read what its run shows',
    'credentials:manage',
    'runs:create',
  ],
  'deadletter/exhaust': ['Use up the retries of a run', 'runs:create', 'runs:read'],
  'dispatch/fanout': ['Dispatch workers and join them', 'workflows:write', 'runs:create'],
  'egress/decide': ['Judge a credential for a destination', 'runs:create'],
  'envelope/accept': ['Judge an envelope, or let a run receive it', 'runs:create'],
  'fs/read': ['Read a file of a surface', 'runs:create'],
  'governance/approval-gate': ['Answer a governance gate', 'runs:create', 'approvals:respond'],
  'heartbeat/tick': ['Evaluate a heartbeat once', 'runs:create'],
  'http/safe-fetch': ['Call a server as nodes do', 'runs:create'],
  'http/safe-fetch-run': [
    'Call a server from a node of a run',
    'packs:install',
    'workflows:write',
    'runs:create',
  ],
  'media/put': ['Let a run keep media as those of models', 'runs:create'],
  'oauth/authorize-code-roundtrip': [
    'Authorize a connection, and let a node use it',
    'packs:install',
    'credentials:manage',
    'runs:create',
  ],
  'oauth/connector-echo': [
    'Let a node use a connection whose token is known',
    'packs:install',
    'credentials:manage',
    'runs:create',
  ],
  'packs/install-gate': ['Judge a manifest', 'packs:read'],
  'prompt/compose': ['Fill in a prompt, and what the log would say of it', 'prompts:read'],
  'prompt/resolve': ['The prompt of a node through all layers', 'prompts:read'],
  'scheduling/tick': ['Let a schedule fall due', 'runs:create'],
  'subrun/attest': ['Merge the outputs of a child', 'workflows:write', 'runs:create', 'approvals:respond'],
  'test/capability-toggle': ['Take a capability away for a moment', 'runs:create'],
  'test/debug-bundle/export': ['Export a run for debugging', 'runs:read'],
  'test/emit-envelope-reliability': ['Let a run tell an event of envelopes', 'runs:create'],
  'test/emit-provider-usage': ['Let a run tell what a model used', 'runs:create'],
  'test/evaluate-model-capability-gate': ['Whether a model can do what a node needs', 'runs:read'],
  'test/idempotency/concurrent-claim': ['Let several executors reach one effect', 'runs:create'],
  'test/llm-cache-key': ['The cache key of a request to a model', 'runs:read'],
  'test/llm-prompt-wrap': ['An event as a prompt quotes it', 'prompts:read'],
  'GET test/mock-ai/last-dispatch-budget': ['The output bound of the last request of a node', 'runs:read'],
  'test/mock-ai/program': ['What the provider `mock` answers to a node', 'runs:create'],
  'test/reset': ['Forget what the suite toggled', 'runs:create'],
  'GET test/runs/{runId}/events': ['Read the log of a run; a run that is not there has none', 'runs:read'],
  'GET test/runs/{runId}/variables': ['Read the variables of a run', 'runs:read'],
  'test/runs/{runId}/variables': ['Set variables of a run that is under way', 'runs:create'],
  'test/sandbox-invoke': ['Run code in the sandbox', 'packs:install'],
  'test/sandbox-load': ['Load a pack in the sandbox', 'packs:install'],
  'test/surface': ['Call a method of a surface', 'runs:create'],
  'toolhooks/invoke': ['Call a tool that does nothing', 'runs:create'],
  'trigger-bridge/deliver': ['Send an event through the bridge', 'webhooks:manage', 'runs:create'],
  'trigger-bridge/ingest': [
    'Send an event of a source, and show what its run gets',
    'webhooks:manage',
    'runs:create',
  ],
  'workflow-chain:expand': ['Expand a chain', 'workflows:write'],
  'GET workflows': ['List workflows', 'manifest:read'],
  workflows: ['Register a small definition', 'workflows:write'],
} as const satisfies Readonly<Record<string, readonly [summary: string, ...Scope[]]>>;

type Seam = keyof typeof SEAMS;

/** The path and the options of a route. */
export function seamAt<S extends object>(seam: Seam, schema: S) {
  const [summary, ...access] = SEAMS[seam];
  const [path = ''] = seam.split(' ').reverse();
  // Convert the OpenAPI path to the syntax of Fastify
  const url = `/v1/host/sample/${path.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1')}`;
  return [url, { schema: { summary, ...schema }, config: { access } }] as const;
}

/** Answers a POST with the object that `run` returns. */
export function seam<Body extends TSchema>(
  app: Api,
  path: Seam,
  body: Body,
  run: (caller: Caller, body: Static<Body>) => Promise<object>,
): void {
  const schema = { body: body as TSchema, response: { 200: Values } };
  app.post(...seamAt(path, schema), (request) => run(callerOf(request), request.body as Static<Body>));
}
