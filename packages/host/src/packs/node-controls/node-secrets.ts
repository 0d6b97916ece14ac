/**
 * What a node asks for in `requiresSecrets` and `requiredCredentials`, looked up before it is dispatched: references for
 * the first, values for the second.
 */
import { type CredentialKind, ERRORS, type JsonObject, OpenwopError, type Owner } from '@gantry/protocol';
import type { Credentials } from '../../credentials/credentials.ts';
import type { Revealing } from '../../credentials/reveal.ts';
import type { NodeNeeds } from '../pack-record.ts';

/** Members of `ctx`. */
export interface SecretMembers {
  readonly secretRefs?: JsonObject;
  readonly credentials?: JsonObject;
}

export interface NeedyNode extends Pick<Revealing, 'runId' | 'nodeId' | 'pack'> {
  readonly owner: Owner;
}

export type NodeSecrets = (needs: NodeNeeds, node: NeedyNode) => Promise<SecretMembers>;

const KINDS: Readonly<Record<string, readonly CredentialKind[]>> = {
  'api-key': ['api_key', 'bearer', 'basic'],
  'oauth-token': ['oauth2'],
};

export interface NodeSecretsOptions {
  readonly credentials: () => Pick<Credentials, 'required' | 'reveal'>;
  /** As the host advertises them. */
  readonly aiProviders: readonly string[];
}

export const nodeSecrets =
  ({ credentials, aiProviders }: NodeSecretsOptions): NodeSecrets =>
  async (needs, { owner, ...node }) => {
    const secretRefs: Record<string, JsonObject> = {};
    for (const { id, kind, provider, scope = 'tenant' } of needs.secrets) {
      if (kind === 'ai-provider' && !aiProviders.includes(provider ?? '')) throw noProvider(provider ?? '');
      const wanted = { name: id, provider, scope, kinds: KINDS[kind] };
      const { id: ref } = await credentials().required(owner, wanted, node.runId);
      secretRefs[id] = { ref, kind, scope };
    }
    const values: Record<string, JsonObject> = {};
    for (const { key, scope = 'tenant' } of needs.credentials) {
      const { id: ref } = await credentials().required(owner, { name: key, scope }, node.runId);
      const about = { ...node, type: 'credential.resolved', purpose: `requiredCredentials: ${key}` } as const;
      const { credential, value, expiresAt } = await revealed(credentials().reveal(owner, ref, about), key);
      values[key] = {
        kind: credential.record.kind,
        value,
        ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
      };
    }
    return {
      ...(needs.secrets.length > 0 && { secretRefs }),
      ...(needs.credentials.length > 0 && { credentials: values }),
    };
  };

/** The codes of `secrets.resolve` are not those of a node that was not dispatched. */
async function revealed<T>(work: Promise<T>, id: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof OpenwopError) || ERRORS[error.code].retriable) throw error;
    const { message } = error;
    throw new OpenwopError('credential_unavailable', { message, details: { id } });
  }
}

const noProvider = (provider: string): OpenwopError =>
  new OpenwopError('credential_unavailable', {
    message: `The node needs the AI provider ${JSON.stringify(provider)}, which this host does not advertise under aiProviders.supported.`,
    details: { provider },
  });
