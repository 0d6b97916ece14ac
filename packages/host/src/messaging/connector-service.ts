/** What callers may do with connectors and their messages. */
import {
  type Connector,
  type CreateConnectorRequest,
  type connectorsWire,
  type MessageDelivery,
  OpenwopError,
} from '@gantry/protocol';
import {
  type Caller,
  type Changes,
  ResourceService,
  type ServiceOptions,
  type Shown,
} from '@gantry/resources';
import { type ConnectorReads, type ConnectorRecord, connectors } from './connector.ts';
import { MESSAGES, messageView } from './message.ts';

export class ConnectorService extends ResourceService<
  typeof connectorsWire,
  ConnectorRecord,
  Pick<ConnectorRecord, 'target' | 'owner'>,
  ConnectorReads
> {
  readonly #changes: Changes;

  constructor(options: ServiceOptions<ConnectorReads>) {
    super(connectors, options);
    this.#changes = options.changes;
  }

  override create(caller: Caller, input: CreateConnectorRequest): Promise<Shown<Connector>> {
    return super.create(caller, input, input.connectorId);
  }

  /** Under the same id: a receiver that has it already can tell. */
  resend(caller: Caller, connectorId: string, deliveryId: string): Promise<MessageDelivery> {
    return this.#changes.run(caller, async (change) => {
      await change.get(connectors, connectorId);
      const dead = await change.find(MESSAGES.dead, deliveryId);
      if (dead?.record.connectorId !== connectorId)
        throw new OpenwopError('not_found', {
          message: 'This connector has given up no message with this id.',
        });
      const { last: _last, finishedAt: _finishedAt, ...message } = dead.record;
      change.delete(dead);
      const again = { ...message, dueAt: change.now, attempts: 0 };
      return messageView(change.create(MESSAGES.pending, again, deliveryId), 'pending');
    });
  }
}
