/**
 * Resolves `requiresSecrets`, `requiredCredentials` and `auth` of a node before it is dispatched: references for the
 * first, values for the second, both for the token of the provider that it signs in with.
 */
import { type CredentialKind, ERRORS, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Credentials } from '../../credentials/credentials.ts';
import type { Revealing } from '../../credentials/reveal.ts';
import type { NodeConnections, SigningNode } from '../../oauth/node-connections.ts';
import type { NodeNeeds } from '../pack-record.ts';

/** Members of `ctx`. */
export interface SecretMembers {
  readonly secretRefs?: JsonObject;
  readonly credentials?: JsonObject;
}

export interface NeedyNode extends SigningNode, Pick<Revealing, 'pack'> {}

export type NodeSecrets = (needs: NodeNeeds, node: NeedyNode) => Promise<SecretMembers>;

const KINDS: Readonly<Record<string, readonly CredentialKind[]>> = {
  'api-key': ['api_key', 'bearer', 'basic'],
  'oauth-token': ['oauth2'],
};

export interface NodeSecretsOptions {
  readonly credentials: Pick<Credentials, 'required' | 'reveal'>;
  readonly connections: Pick<NodeConnections, 'signIn'>;
  /** As the host advertises them. */
  readonly aiProviders: readonly string[];
}

export const nodeSecrets =
  ({ credentials, connections, aiProviders }: NodeSecretsOptions): NodeSecrets =>
  async (needs, node) => {
    const { owner, runId, nodeId, pack } = node;
    const secretRefs: Record<string, JsonObject> = {};
    const values: Record<string, JsonObject> = {};
    const give = async (name: string, ref: string, by: string): Promise<void> => {
      const about = { runId, nodeId, pack, type: 'credential.resolved', purpose: `${by}: ${name}` } as const;
      const { credential, value, expiresAt } = await revealed(credentials.reveal(owner, ref, about), name);
      const ends = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
      values[name] = { kind: credential.record.kind, value, ...ends };
    };
    for (const { id, kind, provider, scope = 'tenant' } of needs.secrets) {
      if (kind === 'ai-provider' && !aiProviders.includes(provider ?? '')) throw noProvider(provider ?? '');
      const wanted = { name: id, provider, scope, kinds: KINDS[kind] };
      const { id: ref } = await credentials.required(owner, wanted, runId);
      secretRefs[id] = { ref, kind, scope };
    }
    for (const { key, scope = 'tenant' } of needs.credentials) {
      const { id: ref } = await credentials.required(owner, { name: key, scope }, runId);
      await give(key, ref, 'requiredCredentials');
    }
    if (needs.auth) {
      const { provider } = needs.auth;
      const { id: ref, record } = await connections.signIn(needs.auth, node);
      secretRefs[provider] = { ref, kind: 'oauth-token', scope: record.scope };
      await give(provider, ref, 'auth');
    }
    return {
      ...(Object.keys(secretRefs).length > 0 && { secretRefs }),
      ...(Object.keys(values).length > 0 && { credentials: values }),
    };
  };

/** Maps codes of `secrets.resolve` to the one for a node that was not dispatched. */
async function revealed<T>(work: Promise<T>, id: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof OpenwopError) || ERRORS[error.code].retriable) throw error;
    if (error.code === 'connector_auth_expired') throw error;
    const { message } = error;
    throw new OpenwopError('credential_unavailable', { message, details: { id } });
  }
}

const noProvider = (provider: string): OpenwopError =>
  new OpenwopError('credential_unavailable', {
    message: `The node needs the AI provider ${JSON.stringify(provider)}, which this host does not advertise under aiProviders.supported.`,
    details: { provider },
  });
