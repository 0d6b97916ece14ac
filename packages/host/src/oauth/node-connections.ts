/**
 * Connections as nodes use them: the one that a node signs in with, and the events of its run.
 *
 * N1  A connection of the principal takes precedence over one of the workspace.
 * N2  `connector.authorized` is in the log of the first run that uses an authorization, in the commit that
 *     marks it as reported. `connector.auth_expired` is in the log of each node that fails for it, once for
 *     each attempt.
 */
import { hash } from 'node:crypto';
import { OpenwopError, type Owner } from '@gantry/protocol';
import { type Changes, fromEntry, type NodeCaller, readRecord } from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import { credentials } from '../credentials/credential.ts';
import { ABANDONED } from '../credentials/lookup.ts';
import type { NodeAuth } from '../packs/connections/node-auth.ts';
import type { ScopesOf } from '../principals.ts';
import { type Connection, connectionId, connections } from './connection.ts';
import { expired, type Renewal } from './renewal.ts';

export interface SigningNode {
  readonly owner: Owner;
  readonly runId: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly work: Pick<NodeCaller, 'epoch' | 'tell'>;
}

export interface NodeConnectionsOptions {
  readonly changes: Changes;
  readonly entries: EntryReads;
  readonly renewal: Renewal;
  readonly scopesOf: ScopesOf;
}

export class NodeConnections {
  readonly #options: NodeConnectionsOptions;

  constructor(options: NodeConnectionsOptions) {
    this.#options = options;
  }

  /**
   * The connection that the node signs in with, with a token that is valid for some time. The credential has
   * the same id.
   */
  async signIn(auth: NodeAuth, node: SigningNode): Promise<Connection> {
    const connection = await this.#find(node.owner, auth.provider);
    const { tenant, record } = connection;
    if (record.scope === 'user' && (await this.#options.scopesOf(tenant, record.principal)) === null)
      throw new OpenwopError('credential_unavailable', { message: ABANDONED });
    try {
      const lacking = auth.scopes.filter((scope) => !record.scopes.includes(scope));
      if (lacking.length > 0) throw expired(connection, `It does not cover ${lacking.join(', ')}.`);
      await this.#renew(connection);
    } catch (error) {
      if (error instanceof OpenwopError && error.code === 'connector_auth_expired')
        await this.#tellExpired(node, error);
      throw error;
    }
    if (!record.isTold) await this.#tellAuthorized(node, connection);
    return connection;
  }

  /** N1. */
  async #find(owner: Owner, provider: string): Promise<Connection> {
    const { tenant, workspace, principal } = owner;
    const holders = [
      ...(principal === null ? [] : [{ provider, workspace, principal, scope: 'user' as const }]),
      { provider, workspace, principal: '', scope: 'workspace' as const },
    ];
    const keys = holders.map((holder) => ({ kind: connections.kind, tenant, id: connectionId(holder) }));
    const entry = (await this.#options.entries.getMany(keys)).find((found) => found !== null);
    if (entry) return fromEntry(connections, entry);
    throw new OpenwopError('credential_unavailable', {
      message: `Nobody has connected ${provider} for the owner of this run. Type: gantry connections connect ${provider} --scope workspace`,
      details: { provider },
    });
  }

  async #renew({ tenant, id }: Connection): Promise<void> {
    const { entries, renewal } = this.#options;
    const credential = await readRecord(entries, credentials, tenant, id);
    if (!credential) throw new OpenwopError('credential_not_found');
    await renewal.fresh(credential);
  }

  /** N2. */
  #tellAuthorized(node: SigningNode, { id, record }: Connection): Promise<void> {
    const { authorizedAt } = record;
    return this.#options.changes.run(callerOf(node, ['authorized', id, authorizedAt]), async (change) => {
      const current = await change.get(connections, id);
      const { provider, scopes, isTold } = current.record;
      if (isTold || current.record.authorizedAt !== authorizedAt) return;
      change.update(current, { isTold: true });
      const payload = { provider, credentialRef: id, scopes: [...scopes] };
      change.tell({ type: 'connector.authorized', payload });
    });
  }

  /** N2. */
  #tellExpired(node: SigningNode, { details = {} }: OpenwopError): Promise<void> {
    const caller = callerOf(node, ['expired', String(details.credentialRef), node.attempt]);
    return this.#options.changes.run(caller, async (change) => {
      change.tell({ type: 'connector.auth_expired', payload: details });
    });
  }
}

/** `about` distinguishes the events of one node. */
function callerOf(
  { owner, runId, nodeId, work }: SigningNode,
  about: readonly (string | number)[],
): NodeCaller {
  const { tenant } = owner;
  const invocationId = hash(
    'sha256',
    JSON.stringify(['connector', tenant, runId, nodeId, ...about]),
    'base64url',
  );
  return { kind: 'node', ...owner, actor: runId, call: { invocationId, runId, nodeId }, ...work };
}
