/**
 * A delivery to a receiver. Each state has its own record kind, so that it can be listed separately: a lane
 * reads pending deliveries, oldest first, and never finished ones.
 */

import { type DeliveryState, isoTime } from '@gantry/protocol';
import type { Change, Changes, RecordKind, Stored } from '@gantry/resources';
import { systemCaller } from '@gantry/resources';

export const DAY_MS = 86_400_000;

/** The part of every delivery that describes its attempts. */
export interface Attempts {
  /** Time when the next attempt may start, or a claim ends; null if finished. */
  readonly dueAt: number | null;
  /** The number of claims: an attempt that died with its process counts. */
  readonly attempts: number;
  readonly last?: { readonly at: number; readonly status?: number; readonly reason?: string };
  readonly finishedAt?: number;
  readonly createdAt: number;
}

export type DeliveryKinds<R extends Attempts, S extends DeliveryState = DeliveryState> = Readonly<
  Record<S, RecordKind<R>>
>;

/** A kind for each state of `keptMs`, which is how long a delivery is kept in that state. */
export function deliveryKinds<R extends Attempts, S extends DeliveryState>(
  common: Pick<RecordKind<R>, 'kind' | 'idPrefix' | 'ref'>,
  keptMs: Readonly<Record<S, number>>,
): DeliveryKinds<R, S> {
  const kindOf = (state: string, kept: number): RecordKind<R> => ({
    ...common,
    kind: state === 'pending' ? common.kind : `${common.kind}-${state}`,
    dueAt: ({ dueAt }) => dueAt,
    expiresAt: ({ finishedAt }) => (finishedAt === undefined ? null : finishedAt + kept),
  });
  const kinds = Object.entries<number>(keptMs).map(([state, kept]) => [state, kindOf(state, kept)]);
  return Object.fromEntries(kinds);
}

/** The next state of a delivery. */
export interface NextDelivery<R extends Attempts, S extends DeliveryState = DeliveryState> {
  readonly state: S;
  readonly record: R;
}

export const finished = <R extends Attempts, S extends Exclude<DeliveryState, 'pending'>>(
  record: R,
  state: S,
  now: number,
): NextDelivery<R, S> => ({ state, record: { ...record, dueAt: null, finishedAt: now } });

/** Null deletes it. Returns false, and writes nothing, if it was changed since. */
export async function settleDelivery<R extends Attempts, S extends DeliveryState>(
  change: Change,
  kinds: DeliveryKinds<R, NoInfer<S> | 'pending'>,
  delivery: Stored<R>,
  next: NextDelivery<R, S> | null,
): Promise<boolean> {
  const isPending = next?.state === 'pending';
  const isSettled = await change.settle(delivery, isPending ? next.record : null);
  if (isSettled && next && !isPending) change.create(kinds[next.state], next.record, delivery.id);
  return isSettled;
}

/** Settles each one separately, and skips those that another process has changed meanwhile. */
export async function settleAll<R extends Attempts, S extends DeliveryState>(
  changes: Pick<Changes, 'run'>,
  actor: string,
  kinds: DeliveryKinds<R, S | 'pending'>,
  deliveries: readonly Stored<R>[],
  nextOf: (delivery: Stored<R>, now: number) => NextDelivery<R, NoInfer<S> | 'pending'> | null,
): Promise<void> {
  const settle = (delivery: Stored<R>) =>
    changes.run(systemCaller(actor, delivery), (change) =>
      settleDelivery(change, kinds, delivery, nextOf(delivery, change.now)),
    );
  await Promise.all(deliveries.map(settle));
}

/** Only one process sends it until the claim ends. Returns null, and writes nothing, if it was changed since. */
export async function claimDelivery<R extends Attempts>(
  change: Change,
  delivery: Stored<R>,
  until: number,
): Promise<Stored<R> | null> {
  const record = { ...delivery.record, dueAt: until, attempts: delivery.record.attempts + 1 };
  return (await change.settle(delivery, record))
    ? { ...delivery, record, version: delivery.version + 1 }
    : null;
}

export const isDue = ({ record: { dueAt } }: { readonly record: Attempts }, now: number): boolean =>
  dueAt !== null && dueAt <= now;

/** The attempts as shown to callers. */
export function attemptsView({ attempts, last, finishedAt, dueAt, createdAt }: Attempts) {
  return {
    attempts,
    ...(last?.status !== undefined && { lastStatus: last.status }),
    ...(last?.reason !== undefined && { lastReason: last.reason }),
    ...(last && { lastAttemptAt: isoTime(last.at) }),
    ...(dueAt !== null && { nextAttemptAt: isoTime(dueAt) }),
    ...(finishedAt !== undefined && { finishedAt: isoTime(finishedAt) }),
    createdAt: isoTime(createdAt),
  };
}
