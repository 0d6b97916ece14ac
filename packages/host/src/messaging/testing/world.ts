/** Messaging on a real store, with receivers on this machine and a clock of the test's own. */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { createEgress, type EgressCredential, readAllowList } from '@gantry/egress';
import { type CreateConnectorRequest, OpenwopError, ownerOf } from '@gantry/protocol';
import { Changes, personCaller } from '@gantry/resources';
import { CommitPipeline, type Store } from '@gantry/store';
import type { Dispatched, EgressEnvelope } from '@gantry/surfaces';
import { pino } from 'pino';
import { createMessaging, type Messaging } from '../messaging.ts';

export const TENANT = 'acme';
const START = 1_790_000_000_000;
const PERSON = personCaller({ tenant: TENANT, principal: 'key_1' });
const LOOPBACK = 'connector@acme=http://127.0.0.0/8:*,connector@acme=https://127.0.0.0/8:*';

export interface World {
  readonly messaging: Messaging;
  readonly credentials: Map<string, EgressCredential>;
  now(): number;
  /** Time passes, and what is due is sent. */
  later(ms: number): Promise<void>;
  /** Another process on the same database; a short one is driven by the test alone, and not stopped with it. */
  another(options?: { readonly store?: Store; readonly isShort?: boolean }): Messaging;
  add(connector: CreateConnectorRequest): Promise<unknown>;
  send(connectorId: string, more?: Partial<EgressEnvelope>, by?: Messaging): Promise<Dispatched>;
  deliveries(
    connectorId: string,
  ): Promise<readonly { deliveryId: string; state: string; attempts: number; lastReason?: string }[]>;
}

export const credential = (value: string, audiences = ['127.0.0.1']): EgressCredential => ({
  provenance: { credentialId: 'c', issuer: 'host', audiences },
  header: 'authorization',
  value,
});

/** `mail`: ports of mail servers on this machine. */
export function createWorld(t: TestContext, store: Store, mail: readonly number[] = []): World {
  let at = START;
  const now = (): number => at;
  const credentials = new Map<string, EgressCredential>();
  const entries = mail.map((port) => `connector@acme=smtp://127.0.0.1:${port}`);
  const allow = readAllowList([LOOPBACK, ...entries].join());
  const egress = createEgress({ policy: { purpose: 'connector', allow } });
  const open = async (_: unknown, ref: string): Promise<EgressCredential> => {
    const found = credentials.get(ref);
    if (!found) throw new OpenwopError('credential_not_found');
    return found;
  };
  const processes: Messaging[] = [];
  const another: World['another'] = ({ store: over = store, isShort = false } = {}) => {
    const pipeline = new CommitPipeline(over, (group) => messaging.committed(group));
    const changes = new Changes({ store: over, pipeline, now, randomBytes });
    const log = pino({ level: 'silent' });
    const parts = { store: over, changes, egress, credentials: { open }, now, randomBytes, log };
    const messaging: Messaging = createMessaging(parts);
    if (!isShort) processes.push(messaging);
    return messaging;
  };
  const messaging = another();
  t.after(async () => {
    await Promise.all(processes.map((each) => each.stop()));
    egress.close();
  });
  return {
    messaging,
    credentials,
    now,
    another,
    async later(ms) {
      at += ms;
      for (const each of processes) await each.tick();
    },
    add: (connector) => messaging.connectors.create(PERSON, connector),
    send: (connectorId, more, by = messaging) =>
      by.messages.dispatch({ ...ENVELOPE, ...more }, connectorId, callAt(at)),
    deliveries: async (connectorId) =>
      (await messaging.connectors.read(PERSON, 'deliveries', connectorId, {})).deliveries,
  };
}

const callAt = (now: number) => ({
  owner: ownerOf({ tenant: TENANT, principal: 'key_1' }),
  tenant: TENANT,
  caller: { kind: 'person', actor: 'key_1' } as const,
  signal: new AbortController().signal,
  now,
});

export const ENVELOPE: EgressEnvelope = {
  type: 'chat.egress',
  version: '1',
  channel: 'http',
  accountId: 'default',
  delivery: { conversationId: 'ada@example.com' },
  content: { text: 'Hello' },
  idempotencyKey: 'k1',
};
