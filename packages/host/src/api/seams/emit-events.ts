/** Starts a run whose node emits the given events of models and envelopes. */
import type { Api, Caller } from '@gantry/http';
import {
  closedObject,
  type EmittedEvent,
  type JsonObject,
  OpenwopError,
  optional,
  Values,
} from '@gantry/protocol';
import Type from 'typebox';
import type { EnvelopeTasks } from '../../ai/conformance-envelope.ts';
import { definition, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { type Aliases, aliasOf, remember } from './envelopes.ts';
import { seam } from './seam.ts';

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Count = Type.Integer({ minimum: 0 });
const Usage = closedObject({
  provider: Name,
  model: Name,
  inputTokens: Count,
  outputTokens: Count,
  totalTokens: optional(Count),
  costEstimateUsd: optional(Type.Number({ minimum: 0 })),
  currency: optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  cacheHit: optional(Type.Boolean()),
  cacheReadTokens: optional(Count),
  cacheWriteTokens: optional(Count),
  nodeId: optional(Name),
  traceId: optional(Name),
});
const About = { runId: Name, correlationId: optional(Name), nodeId: optional(Name) };
const EmitUsage = Type.Object({ ...About, payload: Usage });
const EmitReliability = Type.Object({ ...About, type: Name, payload: Values });

/** The required members of each type, then the optional ones. All types have the node. */
const RELIABILITY: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  'envelope.retry.attempted': [['attempt', 'reason'], ['previousError']],
  'envelope.retry.exhausted': [['totalAttempts', 'finalReason'], ['finalError']],
  'envelope.refusal': [
    ['provider', 'model'],
    ['refusalText', 'safetyCategory'],
  ],
  'envelope.truncated': [
    ['provider', 'model', 'stopReason'],
    ['partialPayloadAvailable', 'outputTokenCount'],
  ],
  'envelope.nlToFormat.engaged': [['originalEnvelopeType'], ['fallbackCalls']],
  'envelope.recovery.applied': [['path'], ['byteOffset']],
};
const LEAK = /secret-canary-|"credentialRef"/;
const USAGE_LEAK = /secret:|secret-canary-|"credentialRef"/;

export function emitSeams(app: Api, drive: Drive, tasks: EnvelopeTasks, aliases: Aliases): void {
  async function told(
    caller: Caller,
    {
      runId,
      nodeId = 'node',
      correlationId = `${runId}:emitted`,
    }: { runId: string; nodeId?: string; correlationId?: string },
    { type, payload }: { readonly type: string; readonly payload: JsonObject },
  ): Promise<JsonObject> {
    const members: JsonObject = { nodeId, ...payload };
    const event = { type: type as EmittedEvent['type'], payload: members };
    const task = tasks.leave({ event: { ...event, causationId: correlationId } });
    const telling = node(nodeId, 'conformance.envelope', { config: { task } });
    const key = await drive.start(caller, [definition(seamId('event'), [telling])]);
    await drive.atRest(key);
    remember(aliases, aliasOf(caller.tenant, runId), { key, causationId: correlationId });
    return { event };
  }

  seam(app, 'test/emit-provider-usage', EmitUsage, async (caller, body) => {
    const payload: JsonObject = JSON.parse(JSON.stringify(body.payload));
    if (USAGE_LEAK.test(JSON.stringify(payload))) throw new OpenwopError('provider_usage_credential_leak');
    return told(caller, body, { type: 'provider.usage', payload });
  });

  seam(app, 'test/emit-envelope-reliability', EmitReliability, async (caller, body) => {
    const { type } = body;
    const payload: JsonObject = JSON.parse(JSON.stringify(body.payload));
    checkReliability(type, payload);
    return told(caller, body, { type, payload });
  });
}

/** Their payloads are closed, so that they cannot contain output of a model. */
function checkReliability(type: string, payload: JsonObject): void {
  const wrong = (what: string) => new OpenwopError('invalid_argument', { message: `${what}.` });
  const members = RELIABILITY[type];
  if (!members) throw wrong(`${type} is no event of envelopes`);
  const [required, more] = members;
  const missing = required.find((name) => payload[name] === undefined);
  if (missing !== undefined) throw wrong(`payload.${missing} is missing`);
  if (LEAK.test(JSON.stringify(payload))) throw new OpenwopError('envelope_reliability_credential_leak');
  const known = ['nodeId', ...required, ...more];
  const extra = Object.keys(payload).find((name) => !known.includes(name));
  if (extra === undefined) return;
  if (type === 'envelope.recovery.applied') throw new OpenwopError('envelope_recovery_content_leak');
  throw wrong(`payload.${extra} is no member of ${type}`);
}
