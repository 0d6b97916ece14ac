/** A host with people who have keys, credentials and connections of their own, and what one sees of a run of theirs. */
import assert from 'node:assert/strict';
import type { JsonObject, NewKey, RunEventDoc } from '@gantry/protocol';
import { Browser, CONNECTIONS_URL, type OAuthTest, oauthTest } from '../../oauth/testing/oauth-test.ts';
import type { Settings } from '../../settings.ts';
import { node, workflow } from '../../testing/definitions.ts';
import type { Lifetime } from '../../testing/one-per-file.ts';

const SCOPES = [
  'runs:create',
  'runs:read',
  'workflows:write',
  'credentials:manage',
  'webhooks:manage',
  'approvals:link',
];
const PEERS = { peerDependencies: { 'secrets.resolveInPack': 'supported' } };
const LOOK = 'vendor.acme.look';
const CALL = 'vendor.acme.call';
const FLAKY = 'vendor.acme.flaky';
const SWITCH = 'switch';
const tries = (ref: string) => `ctx.secrets.resolve({ ref: ${ref}, purpose: 'p' })`;
const NODES = {
  /** Every personal credential that it is given. */
  [LOOK]: {
    role: 'side-effect' as const,
    body: `const given = [];
      for (const ref of ['of-ann', 'of-dan']) await ${tries('ref')}.then(() => given.push(ref), () => {});
      return { given, trust: ctx.trustBoundary };`,
  },
  [CALL]: {
    role: 'side-effect' as const,
    body: 'return { ref: ctx.secretRefs.acme.ref };',
    more: { auth: { type: 'oauth2', provider: 'acme', scopes: ['entries.read'] } },
  },
  [FLAKY]: {
    role: 'side-effect' as const,
    body: `if (!(await ${tries(`'${SWITCH}'`)}.catch(() => null))) return { status: 'error', error: { code: 'BUSY', message: 'not yet', retryable: true } };
      return {};`,
  },
};
const gate = node('gate', 'core.approvalGate', { title: 'Go on?' });
const acting = [
  node('ai', 'core.ai.callPrompt', { provider: 'scripted', prompt: 'Hello' }),
  node('look', LOOK),
  node('call', CALL),
];
const lead = { type: 'static', value: { kind: 'next-worker', nextWorkerIds: ['plain'] } } as const;
export const WORKFLOWS = {
  plain: workflow('plain', acting),
  job: workflow('job', [
    gate,
    node('flaky', FLAKY, {}, { settings: { maxRetries: 1, backoffMs: 0 } }),
    ...acting,
  ]),
  child: workflow('child', [gate, node('sub', 'core.subWorkflow', { workflowId: 'plain' })]),
  dispatch: workflow('dispatch', [
    gate,
    node('lead', 'core.orchestrator.supervisor', {}, { inputs: { decision: lead } }),
    node('send', 'core.dispatch'),
  ]),
};

type Answer = Awaited<ReturnType<OAuthTest['get']>>;

export interface Person extends NewKey {
  post(url: string, body?: object): Promise<Answer>;
  get(url: string): Promise<Answer>;
}

export interface RightsRig extends OAuthTest {
  person(name: string, more?: object): Promise<Person>;
  /** With a credential and a connection that only the runs of this person can use. */
  equipped(name: string): Promise<Person>;
  /** Follows the run to its gate, and answers without a key, so that the run is untrusted from then on. */
  answered(runId: string): Promise<void>;
  /** The node that made every run fail until now works. */
  mend(): Promise<void>;
  events(runId: string): Promise<RunEventDoc[]>;
  /** Principal, personal credentials, connection, the run whose budget counts, and trust. */
  seen(runId: string): Promise<string[]>;
}

export async function rightsRig(t: Lifetime, settings: Partial<Settings>): Promise<RightsRig> {
  const api = await oauthTest(t, { settings });
  await api.configured();
  await api.install({ nodes: NODES, manifest: PEERS });
  for (const definition of Object.values(WORKFLOWS)) await api.registered(definition);
  const names = new Map<unknown, string>();

  const person: RightsRig['person'] = async (name, more = {}) => {
    const made = await api.post('/v1/host/gantry/keys', { name, scopes: SCOPES, ...more });
    assert.equal(made.statusCode, 201, made.body);
    const key: NewKey = made.json();
    names.set(key.principal, name);
    const headers = { authorization: `Bearer ${key.key}` };
    return {
      ...key,
      post: (url, body = {}) => api.post(url, body, headers),
      get: (url) => api.get(url, headers),
    };
  };
  return {
    ...api,
    person,
    events: (runId) => eventsOf(api, runId),
    async equipped(name) {
      const made = await person(name);
      const credential = { ref: `of-${name}`, scope: 'user', value: `sk_live_of_${name}_0123456789` };
      assert.equal((await made.post('/v1/host/gantry/credentials', credential)).statusCode, 201);
      const { authorizeUrl } = (await made.post(CONNECTIONS_URL, { provider: 'acme' })).json();
      const browser = new Browser();
      assert.equal((await api.page(await api.consent(authorizeUrl, browser), browser)).status, 200);
      return made;
    },
    async answered(runId) {
      await api.asks(runId, 'gate');
      const { interrupt } = (await api.get(`/v1/runs/${runId}`)).json();
      const url = `/v1/interrupts/${interrupt.interruptToken}`;
      const payload = { resumeValue: { action: 'accept' } };
      const answer = await api.host.app.inject({ method: 'POST', url, payload });
      assert.equal(answer.statusCode, 200, answer.body);
    },
    async mend() {
      const made = await api.post('/v1/host/gantry/credentials', { ref: SWITCH, value: 'on-0123456789' });
      assert.equal(made.statusCode, 201, made.body);
    },
    seen: (runId) => seenOf(api, names, runId),
  };
}

const eventsOf = async (api: OAuthTest, runId: string): Promise<RunEventDoc[]> =>
  (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json().events;

async function seenOf(api: OAuthTest, names: ReadonlyMap<unknown, string>, runId: string): Promise<string[]> {
  const { owner } = await api.ended(runId);
  const { acts } = (await api.get('/v1/host/gantry/acts?limit=200')).json();
  const outputs = (await eventsOf(api, runId)).flatMap(({ type, nodeId, payload }) =>
    type === 'node.completed' ? [{ nodeId, ...Object(payload.outputs) }] : [],
  );
  const of = (nodeId: string): JsonObject => outputs.find((each) => each.nodeId === nodeId) ?? {};
  /** A replay repeats what its source was given, and nothing is opened. */
  const opened = (what: unknown, type: string): string => {
    if (what === undefined || what === '') return 'none';
    const isOpened = acts.some((act: JsonObject) => act.runId === runId && act.type === type);
    return isOpened ? String(what) : 'as recorded';
  };
  const { family } = (await api.get(`/v1/host/gantry/runs/${runId}/usage`)).json();
  return [
    names.get(Object(owner).principal) ?? 'nobody',
    opened(Array(of('look').given).join(), 'secret.resolved'),
    opened(of('call').ref && 'its own', 'credential.resolved'),
    family.runId === runId ? 'its own' : family.runId,
    String(of('look').trust),
  ];
}
