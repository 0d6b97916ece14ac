/** The data that a turn of a tenant's queues has read, and its changes, written with one statement per kind. */
import type { Statement } from '@gantry/postgres';
import { type HandleParts, handleOf } from '../capabilities/queue/queue-store.ts';
import type { BoundsOf, QueueBounds } from '../ports/queue.ts';
import type { Tx } from './connection.ts';
import { type Asked, type Held, loadGroups, loadHeld, type OpenGroup } from './queue-groups.ts';
import { addMessages, announce, type NewMessage, stayInQuota, usedByMessages } from './queue-messages.ts';
import { type Act, type Area, column } from './together.ts';

export interface QueueAct extends Act<QueueTurn> {
  readonly now: number;
  readonly wants:
    | { readonly kind: 'room' }
    | { readonly kind: 'messages'; readonly lease: Asked }
    | { readonly kind: 'delivery'; readonly handle: HandleParts | null };
}

interface DeliveryId {
  readonly groupId: number;
  readonly seq: number;
}

/** The state of a message in a group: leased, or due at a time. */
export interface Delivery extends DeliveryId {
  readonly count: number;
  readonly isLeased: boolean;
  readonly visibleAt: number;
}

export class QueueTurn {
  readonly tenant: string;
  readonly bounds: QueueBounds;
  /** The latest time of its calls, used for all of them. */
  readonly now: number;
  /** Whether a message that may exceed the quota can be attempted. */
  readonly isAlone: boolean;
  readonly groups: Map<string, OpenGroup>;
  readonly #held: Map<string, Held>;
  readonly #touched = new Set<string>();
  readonly #first: Delivery[] = [];
  readonly #changed: Delivery[] = [];
  readonly #gone: DeliveryId[] = [];
  readonly #added: NewMessage[] = [];
  readonly #heard = new Set<string>();
  #used: number;
  #isTriedOut = false;

  constructor(read: TurnFacts) {
    this.tenant = read.tenant;
    this.bounds = read.bounds;
    this.now = read.now;
    this.isAlone = read.isAlone;
    this.groups = read.groups;
    this.#held = read.held;
    this.#used = read.used;
  }

  /** A delivery that its consumer still holds. */
  holder(handle: HandleParts): Held | undefined {
    return this.isTouched(handle) ? undefined : this.#held.get(handleOf(handle));
  }

  isTouched(id: DeliveryId): boolean {
    return this.#touched.has(keyOf(id));
  }

  give(delivery: Delivery, how: 'first' | 'again'): void {
    this.#touched.add(keyOf(delivery));
    (how === 'first' ? this.#first : this.#changed).push(delivery);
  }

  forget(id: DeliveryId): void {
    this.#touched.add(keyOf(id));
    this.#gone.push(id);
  }

  add(message: NewMessage): void {
    this.#used += message.bytes;
    this.#added.push(message);
    this.ring(message.topic);
  }

  fits(bytes: number): boolean {
    return this.#used + bytes <= this.bounds.quotaBytes;
  }

  /** A message was added that may exceed the quota. */
  tryOut(): void {
    this.#isTriedOut = true;
  }

  get isTriedOut(): boolean {
    return this.#isTriedOut;
  }

  /** Notifies waiting consumers with the commit. */
  ring(topic: string): void {
    this.#heard.add(topic);
  }

  statements(tx: Tx): Statement[] {
    const { tenant } = this;
    const moved = [...this.groups.values()].filter(({ from, next }) => next !== from);
    return [
      ...some(this.#gone, (gone) => forgetDeliveries(tx, gone)),
      ...some(this.#changed, (changed) => changeDeliveries(tx, changed)),
      ...some(this.#first, (first) => addDeliveries(tx, first)),
      ...some(moved, (groups) => moveGroups(tx, groups)),
      ...some(this.#added, (added) => addMessages(tx, tenant, added)).flat(),
      ...some([...this.#heard], (topics) => announce(tx, tenant, topics)),
    ];
  }
}

interface TurnFacts extends Pick<QueueTurn, 'tenant' | 'bounds' | 'now' | 'isAlone' | 'groups'> {
  readonly held: Map<string, Held>;
  /** Bytes used by the tenant; read when a call publishes. */
  readonly used: number;
}

const keyOf = ({ groupId, seq }: DeliveryId): string => `${groupId}.${seq}`;

const some = <R, S>(rows: readonly R[], statement: (rows: readonly R[]) => S): S[] =>
  rows.length > 0 ? [statement(rows)] : [];

const forgetDeliveries = (tx: Tx, gone: readonly DeliveryId[]): Statement => tx`
  delete from queue_deliveries d
  using unnest(${column(gone, 'groupId')}::bigint[], ${column(gone, 'seq')}::bigint[]) as gone (group_id, seq)
  where d.group_id = gone.group_id and d.seq = gone.seq
`;

const unnested = (tx: Tx, deliveries: readonly Delivery[]) => tx`
  unnest(${column(deliveries, 'groupId')}::bigint[], ${column(deliveries, 'seq')}::bigint[],
    ${column(deliveries, 'count')}::bigint[], ${deliveries.map(({ isLeased }) => Number(isLeased))}::integer[],
    ${column(deliveries, 'visibleAt')}::bigint[]) as given (group_id, seq, count, leased, visible_at)
`;

const changeDeliveries = (tx: Tx, changed: readonly Delivery[]): Statement => tx`
  update queue_deliveries d set count = given.count, leased = given.leased = 1, visible_at = given.visible_at
  from ${unnested(tx, changed)} where d.group_id = given.group_id and d.seq = given.seq
`;

const addDeliveries = (tx: Tx, first: readonly Delivery[]): Statement => tx`
  insert into queue_deliveries (group_id, seq, count, leased, visible_at)
  select group_id, seq, count, leased = 1, visible_at from ${unnested(tx, first)}
`;

const moveGroups = (tx: Tx, groups: readonly OpenGroup[]): Statement => tx`
  update queue_groups g set next_seq = moved.next_seq
  from unnest(${column(groups, 'id')}::bigint[], ${column(groups, 'next')}::bigint[]) as moved (id, next_seq)
  where g.id = moved.id
`;

export const queueArea = (boundsOf: BoundsOf): Area<QueueTurn, QueueAct> => ({
  name: 'queue',
  async load(tx, tenant, acts) {
    const now = Math.max(...acts.map((act) => act.now));
    const wants = acts.map((act) => act.wants);
    const handles = wants.flatMap((want) => (want.kind === 'delivery' && want.handle ? [want.handle] : []));
    const leases = wants.flatMap((want) => (want.kind === 'messages' ? [want.lease] : []));
    const [used, held, groups] = await Promise.all([
      wants.some(({ kind }) => kind === 'room') ? usedByMessages(tx, tenant) : 0,
      loadHeld(tx, tenant, handles),
      loadGroups(tx, { tenant, now }, leases),
    ]);
    const byHandle = new Map(held.map((each) => [handleOf(each), each]));
    return new QueueTurn({
      tenant,
      bounds: boundsOf(tenant),
      now,
      isAlone: acts.length === 1,
      groups,
      held: byHandle,
      used,
    });
  },
  async write(tx, _tenant, turn) {
    const statements = turn.statements(tx);
    if (!turn.isTriedOut) return statements;
    await Promise.all(statements);
    await stayInQuota(tx, turn);
    return [];
  },
});
