/**
 * Connectors as a resource: the receiver of messages, and the credential. The record contains no value of a credential.
 */
import {
  CONNECTOR_LIMITS,
  type Connector,
  type ConnectorType,
  connectorsWire,
  invalid,
  OpenwopError,
  type Owner,
  ownerOf,
  type RateLimit,
} from '@gantry/protocol';
import { resource, type Stored } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { listDeliveries } from '../deliveries/delivery-list.ts';
import { MESSAGES, messageView } from './message.ts';
import type { Receivers } from './receivers.ts';
import { type Target, targetOf } from './target.ts';

const DELIVERIES_LISTED = 50;

export interface ConnectorRecord {
  readonly target: Target;
  /** Null for all. */
  readonly channels: readonly string[] | null;
  readonly rateLimit?: RateLimit;
  /** Its credential is opened with the rights of its creator, not with those of the runs that use it. */
  readonly owner: Owner;
  readonly state: 'active' | 'disconnected';
  readonly problem?: string;
}

export type StoredConnector = Stored<ConnectorRecord>;

export interface ConnectorReads {
  readonly entries: Store['entries'];
  readonly receivers: Pick<Receivers, 'judge' | 'check'>;
}

const CHANNELS: Readonly<Record<ConnectorType, readonly string[] | null>> = {
  smtp: ['email'],
  slack: ['slack'],
  http: null,
};

export const connectors = resource<
  typeof connectorsWire,
  ConnectorRecord,
  Pick<ConnectorRecord, 'target' | 'owner'>,
  ConnectorReads
>(connectorsWire, {
  kind: 'connector',
  idPrefix: 'con',
  max: CONNECTOR_LIMITS.perTenantMax,
  prepare: async (input, { receivers }, caller) => {
    const [target, owner] = [targetOf(input), ownerOf(caller)];
    const { problem } = await receivers.judge(owner, target);
    if (problem !== null) throw invalid(problem);
    return { target, owner };
  },
  idOf: ({ connectorId }) => connectorId,
  create: ({ channels, rateLimit }, { target, owner }) => ({
    target,
    channels: channels ?? CHANNELS[target.type],
    ...(rateLimit && { rateLimit }),
    owner,
    state: 'active',
  }),
  verbs: { reconnect: (connector) => connected(connector) },
  acts: {
    /** Keeps the id, so that a receiver can recognize a duplicate. */
    async resend({ id }, { deliveryId }, change) {
      const dead = await change.find(MESSAGES.dead, deliveryId);
      if (dead?.record.connectorId !== id)
        throw new OpenwopError('not_found', {
          message: 'This connector has no dead message with this id.',
        });
      const { last: _last, finishedAt: _finishedAt, ...message } = dead.record;
      change.delete(dead);
      const again = { ...message, dueAt: change.now, attempts: 0 };
      return messageView(change.create(MESSAGES.pending, again, deliveryId), 'pending');
    },
  },
  reads: {
    check: ({ owner, target }, _, { services }) => services.receivers.check(owner, target),
    deliveries: (_, { limit = DELIVERIES_LISTED, ...filter }, { stored: { tenant, id }, services }) =>
      listDeliveries(services.entries, MESSAGES, { tenant, ref: id }, { ...filter, limit }, messageView),
  },
  show: viewOf,
});

export function connected({ problem: _over, ...connector }: ConnectorRecord): ConnectorRecord {
  return { ...connector, state: 'active' };
}

export const disconnected = (connector: ConnectorRecord, problem: string): ConnectorRecord => ({
  ...connector,
  state: 'disconnected',
  problem,
});

function viewOf({ id, createdAt, record }: StoredConnector): Connector {
  const { target, channels, rateLimit, state, problem } = record;
  return {
    connectorId: id,
    ...target,
    ...(channels && { channels: [...channels] }),
    ...(rateLimit && { rateLimit }),
    state,
    ...(problem !== undefined && { problem }),
    createdAt: new Date(createdAt).toISOString(),
  };
}
