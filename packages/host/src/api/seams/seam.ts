/** One route of the public conformance suite. */
import { type Api, type Caller, callerOf } from '@gantry/http';
import type { Static, TSchema } from 'typebox';

/** By their path below `/v1/host/sample/`, with what each does. */
const SEAMS = {
  'a2ui/emit-surface': 'Let a run receive a surface',
  'agentloop/run': 'Let a supervisor take its turns',
  'ai/call': 'Ask a model from a node of a run',
  'ai/call-speech-synthesizer': 'Let a node of a run make speech',
  'ai/generate': 'Let a node of a run ask a model for an envelope',
  'artifacttypes/install': 'Install an artifact-type pack from its manifest and schemas',
  'artifacttypes/produce': 'Let a run produce an artifact',
  'artifacttypes/runproduce': 'Let a run produce some artifact of a type',
  'authorization/decide': 'Whether a principal may do something',
  'budget/run': 'Let a run use up its budget, or ask for a model that it denies',
  'chain/deferred-expand': 'Expand a chain for later',
  'connection-packs/consent-plan': 'The steps that people are asked to consent to',
  'connection-packs/egress-check': 'Whether credentials of a provider may go to a host',
  'connection-packs/install': 'Install a connection pack from its manifest',
  'connection-packs/resolve': 'The pack or built-in that describes a provider',
  'credentials/echo': 'Let a node show the value of a credential, and read what its run shows',
  'deadletter/exhaust': 'Use up the retries of a run',
  'dispatch/fanout': 'Dispatch workers and join them',
  'egress/decide': 'Judge a credential for a destination',
  'envelope/accept': 'Judge an envelope, or let a run receive it',
  'governance/approval-gate': 'Answer a governance gate',
  'heartbeat/tick': 'Evaluate a heartbeat once',
  'http/safe-fetch': 'Call a server as nodes do',
  'http/safe-fetch-run': 'Call a server from a node of a run',
  'oauth/authorize-code-roundtrip': 'Authorize a connection, and let a node use it',
  'oauth/connector-echo': 'Let a node use a connection whose token is known',
  'prompt/compose': 'Fill in a prompt, and what the log would say of it',
  'prompt/resolve': 'The prompt of a node through all layers',
  'scheduling/tick': 'Let a schedule fall due',
  'subrun/attest': 'Merge the outputs of a child',
  'test/idempotency/concurrent-claim': 'Let several executors reach one effect',
  'test/capability-toggle': 'Take a capability away for a moment',
  'test/emit-provider-usage': 'Let a run tell what a model used',
  'test/emit-envelope-reliability': 'Let a run tell an event of envelopes',
  'test/evaluate-model-capability-gate': 'Whether a model can do what a node needs',
  'test/llm-cache-key': 'The cache key of a request to a model',
  'test/llm-prompt-wrap': 'An event as a prompt quotes it',
  'test/mock-ai/program': 'What the provider `mock` answers to a node',
  'test/reset': 'Forget what the suite toggled',
  'test/sandbox-invoke': 'Run code in the sandbox',
  'test/sandbox-load': 'Load a pack in the sandbox',
  'toolhooks/invoke': 'Call a tool that does nothing',
  'trigger-bridge/deliver': 'Send an event through the bridge',
  'trigger-bridge/ingest': 'Send an event of a source, and show what its run gets',
} as const;

/** Answers a POST with what `run` returns. */
export function seam<Body extends TSchema, Answer extends TSchema>(
  app: Api,
  path: keyof typeof SEAMS,
  [body, answer]: readonly [Body, Answer],
  run: (caller: Caller, body: Static<Body>) => Promise<Static<Answer>>,
): void {
  const schema = { summary: SEAMS[path], body: body as TSchema, response: { 200: answer as TSchema } };
  app.post(`/v1/host/sample/${path}`, { schema }, (request) =>
    run(callerOf(request), request.body as Static<Body>),
  );
}
