/** A tool that does nothing, called like every tool; and the decision about a credential in an outbound request. */
import { randomUUID } from 'node:crypto';
import { createEgress, type EgressDecision, PUBLIC_POLICY } from '@gantry/egress';
import type { Api } from '@gantry/http';
import { type EmittedEvent, OpenwopError, Values } from '@gantry/protocol';
import { CommitPipeline } from '@gantry/store';
import type { CallRecord } from '@gantry/surfaces';
import Type from 'typebox';
import { keyScopes } from '../../principals.ts';
import { createRedactions } from '../../redaction/redactions.ts';
import { InvocationLog } from '../../runtime/invocation-log.ts';
import { rateGate, scopeGate } from '../../tools/gates.ts';
import { ToolCalls } from '../../tools/tool-calls.ts';
import type { ApiDeps } from '../context.ts';
import { pairOf } from './http.ts';
import { seam } from './seam.ts';

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Invoke = Type.Object({
  principal: Text,
  toolName: Text,
  requiredScopes: Type.Optional(Type.Array(Text, { maxItems: 50 })),
  args: Type.Optional(Values),
  simulateRateLimitExhausted: Type.Optional(Type.Boolean()),
  simulateToolError: Type.Optional(Type.Boolean()),
});
const CALLS_PER_MINUTE = 1_000_000;

const Scenario = Type.Object({
  scenario: Type.Enum(['out-of-audience', 'provenance-unevaluable', 'in-audience', 'canary']),
});

export function toolHookSeam(app: Api, { store, now }: ApiDeps): void {
  const pipeline = new CommitPipeline(store);
  const log = new InvocationLog(pipeline, store.records, now);
  seam(app, 'toolhooks/invoke', Invoke, async ({ tenant }, body) => {
    const { principal, toolName: name, requiredScopes = [], args = {} } = body;
    const tool = {
      name,
      transport: 'native',
      requiredScopes,
      args: () => JSON.parse(JSON.stringify(args)),
      shown: () => null,
    } as const;
    const rate = rateGate(body.simulateRateLimitExhausted ? 1 : CALLS_PER_MINUTE, store, now);
    if (body.simulateRateLimitExhausted)
      await pipeline.commit(rate.reserve?.({ tenant, principal, tool }) ?? []);
    const hooks = [scopeGate(keyScopes(store, now)), rate];
    const tools = new ToolCalls({ hooks, ruleOf: () => 'allow', redactions: createRedactions(), now });
    const told: EmittedEvent[] = [];
    const tell = (events: readonly EmittedEvent[], writes: Parameters<CommitPipeline['commit']>[0]) => {
      told.push(...events);
      return pipeline.commit(writes);
    };
    const method = `seam.${name}`;
    const place = { tenant, runId: `seam-${randomUUID()}`, nodeId: 'seam', ordinal: 0, providerKey: 'seam' };
    const call = { ...place, method, fingerprint: '', idempotent: true, tool };
    await tools.perform({ log, principal, tell }, call, (admit) =>
      recordOf(method, admit, body.simulateToolError === true),
    );
    return pairOf(told);
  });
  seam(app, 'egress/decide', Scenario, (_, { scenario }) => decided(scenario, now));
}

async function recordOf(method: string, admit: () => Promise<void>, fails: boolean): Promise<CallRecord> {
  const about = { method, fingerprint: '' };
  try {
    await admit();
    if (fails) throw new OpenwopError('internal_error');
    return { ...about, ok: true, value: null };
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    return { ...about, ok: false, retriable: false, error: { code: error.code, message: error.message } };
  }
}

/** The host name does not resolve: the decision is still made, and no request is sent. */
async function decided(scenario: string, now: () => number) {
  const canary = `canary-${randomUUID()}`;
  const audiences = { 'provenance-unevaluable': [], 'out-of-audience': ['api.example.com'] }[scenario];
  const url = 'https://service.example.net/path?query=1';
  const provenance = {
    credentialId: 'conformance',
    issuer: 'host',
    audiences: audiences ?? [new URL(url).hostname],
  };
  const nowhere = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
  const egress = createEgress({ policy: PUBLIC_POLICY, lookup: nowhere, credentials: { wallTime: now } });
  const decisions: EgressDecision[] = [];
  const credential = { provenance, header: 'authorization', value: `Bearer ${canary}` };
  const onDecision = (decision: EgressDecision) => void decisions.push(decision);
  const failure = await egress.request(url, { credential, onDecision }).then(() => undefined, String);
  const [first] = decisions;
  if (!first) throw new Error('a request with a credential was not judged');
  const { decision, reason, destination } = first;
  return {
    decision,
    ...(reason !== undefined && { reason }),
    destination,
    credentialAttached: decision === 'allowed',
    canaryLeaked: JSON.stringify([decisions, failure]).includes(canary),
  };
}
