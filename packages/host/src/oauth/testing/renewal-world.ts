/** Several processes that renew the tokens of one connection. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Changes, fromEntry, systemCaller } from '@gantry/resources';
import { CommitPipeline, type Store } from '@gantry/store';
import { credentials, type StoredCredential } from '../../credentials/credential.ts';
import { openMasterKey } from '../../master-key.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type ConnectionRecord, connections } from '../connection.ts';
import { Renewal } from '../renewal.ts';
import type { TokenAnswer, TokenClient } from '../token-client.ts';
import { putTokens } from '../token-versions.ts';

const OAUTH = {
  id: 'acme',
  displayName: 'Acme',
  flow: 'authorization_code',
  endpoints: { authorize: 'https://acme.example/a', token: 'https://acme.example/t' },
  client: { clientId: 'us', authMethod: 'basic', packEndpoints: {} },
  apiHosts: [],
} as const;

const CONNECTION: ConnectionRecord = {
  provider: 'acme',
  grant: 'authorization_code',
  scope: 'workspace',
  workspace: 'default',
  principal: 'key-1',
  access: 'read',
  scopes: [],
  state: { status: 'connected' },
  authorizedAt: 0,
  isTold: false,
};

export const LIFETIME_MS = 5_000;

/** Rotates: each refresh token counts once, and one that comes again ends the grant for good. */
class RotatingProvider {
  current = 1;
  asked = 0;
  isRevoked = false;
  /** What it says instead. */
  broken: TokenAnswer | undefined;
  /** A request waits for this before it is answered. */
  gate: Promise<void> = Promise.resolve();

  async refresh(token: string): Promise<TokenAnswer> {
    this.asked++;
    const { gate, broken } = this;
    if (!broken && token !== `refresh-token-${this.current}`) this.isRevoked = true;
    if (!broken) this.current++;
    const number = this.current;
    await gate;
    if (broken) return broken;
    if (this.isRevoked) return { kind: 'refused', code: 'invalid_grant' };
    const tokens = {
      accessToken: `access-token-${number}`,
      refreshToken: `refresh-token-${number}`,
      lifetimeMs: LIFETIME_MS,
    };
    return { kind: 'tokens', tokens };
  }
}

const clientOf = (provider: RotatingProvider): TokenClient => ({
  refresh: (_provider, token) => provider.refresh(token),
  clientCredentials: async () => assert.fail('not asked for'),
  exchangeCode: async () => assert.fail('not asked for'),
  revoke: async () => {},
});

const TOKENS = { accessToken: 'access-token-1', refreshToken: 'refresh-token-1', lifetimeMs: LIFETIME_MS };

/** Moves on when a test says so. */
export interface Time {
  offsetMs: number;
}

/** As many processes as asked for, with a connection of their own. */
export async function renewalWorld(
  /** One for each process, or one for all of them. */
  stores: readonly Store[],
  time: Time,
  processes: number,
  waits: 'until told' | 'no longer' = 'until told',
) {
  const now = (): number => Date.now() + time.offsetMs;
  const store = stores[0]!;
  const id = `conn_${randomBytes(6).toString('hex')}`;
  const provider = new RotatingProvider();
  const masterKey = await openMasterKey({
    settings: { masterKey: 'one-key-for-every-process-of-this-database', dataDir: '' },
    store,
    now,
  });
  const storeOf = (index: number): Store => stores[index] ?? store;
  const renewals = Array.from({ length: processes }, (_, process) => {
    const store = storeOf(process);
    const pipeline = new CommitPipeline(store, (group) => {
      for (const [other, each] of renewals.entries()) if (storeOf(other) === store) each.committed(group);
    });
    const changes = new Changes({ store, pipeline, now, randomBytes, sealer: masterKey });
    const renewal: Renewal = new Renewal({
      changes,
      masterKey,
      providers: { resolve: async () => ({ oauth: OAUTH, described: Object() }) },
      clientFor: () => clientOf(provider),
      clock: { ...systemClock, after: (ms, run) => (waits === 'no longer' ? passed(ms, run) : () => {}) },
      now,
      randomBytes,
    });
    return Object.assign(renewal, { changes });
  });
  const passed = (ms: number, run: () => void): (() => void) => {
    time.offsetMs += ms;
    setImmediate(run);
    return () => {};
  };
  for (const [index, renewal] of renewals.entries())
    await storeOf(index).watch((change) => renewal.changed(change));
  await renewals[0]!.changes.run(systemCaller('test', { tenant: 'acme' }), async (change) => {
    const granted = { id, connection: CONNECTION, apiHosts: ['api.acme.example'], tokens: TOKENS };
    await putTokens(change, masterKey, granted);
    change.create(connections, CONNECTION, id);
  });
  const of = recordsOf(store, id);
  return { ...of, provider, renewals, masterKey };
}

const recordsOf = ({ entries }: Store, id: string) => ({
  read: async (): Promise<StoredCredential> => {
    const entry = await entries.get({ kind: credentials.kind, tenant: 'acme', id });
    return fromEntry(credentials, entry!);
  },
  state: async () => {
    const entry = await entries.get({ kind: connections.kind, tenant: 'acme', id });
    return fromEntry(connections, entry!).record.state;
  },
});
