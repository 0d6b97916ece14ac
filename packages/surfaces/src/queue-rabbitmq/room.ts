/**
 * How much a tenant has in its queues. RabbitMQ counts messages, not bytes: a message is one unit by itself, and for
 * each unit that it has beside, its group has an empty message in a second queue, which expires with it. Every group
 * has messages of its own, and all of them count.
 */
import type { QueueBounds } from '../ports/queue.ts';
import { tenantFull } from '../queue/errors.ts';
import { namesOf, type Place } from './names.ts';
import type { Registries } from './registry.ts';
import { onChannel, type RabbitSession } from './session.ts';

const UNITS_MAX = 65_536;
const UNIT_BYTES_MIN = 1_024;
/** Who publishes looks again after this time, and always when half is taken: others publish and acknowledge too. */
const FRESH_MS = 500;
const AMPLE = 0.5;
const TENANTS_MAX = 10_000;
const NOT_FOUND = 404;

export interface RoomOptions {
  readonly bounds: QueueBounds;
  readonly registryOf: Registries;
  /** Deliveries of a tenant that this process has: the server does not count them. */
  readonly held: (tenant: string) => number;
}

interface Usage {
  /** When it was last looked at. */
  at: number;
  counted: number;
  /** Published or acknowledged by this process since then. */
  since: number;
  /** Being published. */
  pending: number;
  counting: Promise<void> | null;
}

export class Room {
  readonly #options: RoomOptions;
  readonly #unitBytes: number;
  readonly #usages = new Map<string, Usage>();

  constructor(options: RoomOptions) {
    this.#options = options;
    this.#unitBytes = Math.max(UNIT_BYTES_MIN, Math.ceil(options.bounds.quotaBytes / UNITS_MAX));
  }

  unitsOf = (body: Buffer): number => Math.max(1, Math.ceil(body.length / this.#unitBytes));

  /** Throws when there is none. Answers what to call when the message is published, or may be. */
  async reserve(session: RabbitSession, place: Place, units: number): Promise<() => void> {
    const registry = await this.#options.registryOf(session);
    const needed = units * registry.queuesOf(place.tenant, place.topic).length;
    const usage = await this.#take(session, place.tenant, needed);
    return () => {
      usage.pending -= needed;
      usage.since += needed;
    };
  }

  /** Throws when the tenant is full already. */
  async check(session: RabbitSession, tenant: string): Promise<void> {
    const usage = await this.#take(session, tenant, 1);
    usage.pending--;
  }

  /** A group is done with a message. */
  async free(session: RabbitSession, place: Place, body: Buffer): Promise<void> {
    const units = this.unitsOf(body);
    const usage = this.#usages.get(place.tenant);
    if (usage) usage.since -= units;
    if (units === 1) return;
    await onChannel(session, async (channel) => {
      for (let unit = 1; unit < units; unit++) await channel.get(namesOf(place).bulk, { noAck: true });
    });
  }

  async #take(session: RabbitSession, tenant: string, needed: number): Promise<Usage> {
    const { quotaBytes } = this.#options.bounds;
    const usage = this.#usageOf(tenant);
    const fits = (share: number): boolean =>
      (usage.counted + usage.since + usage.pending + needed) * this.#unitBytes <= share * quotaBytes;
    if (!fits(AMPLE) || performance.now() > usage.at + FRESH_MS) await this.#count(session, tenant, usage);
    if (!fits(1)) throw tenantFull(quotaBytes);
    // Before anyone else looks
    usage.pending += needed;
    return usage;
  }

  #usageOf(tenant: string): Usage {
    const known = this.#usages.get(tenant);
    if (known) return known;
    if (this.#usages.size >= TENANTS_MAX) this.#usages.clear();
    const usage = { at: Number.NEGATIVE_INFINITY, counted: 0, since: 0, pending: 0, counting: null };
    this.#usages.set(tenant, usage);
    return usage;
  }

  /** What is published meanwhile may count twice until the next time. */
  #count(session: RabbitSession, tenant: string, usage: Usage): Promise<void> {
    const count = async (): Promise<void> => {
      usage.since = 0;
      const registry = await this.#options.registryOf(session);
      const queues = registry.queuesOf(tenant).flatMap((place) => {
        const { queue, bulk } = namesOf(place);
        return [queue, bulk];
      });
      usage.counted = (await readyIn(session, queues)) + this.#options.held(tenant);
      usage.at = performance.now();
    };
    usage.counting ??= count().finally(() => {
      usage.counting = null;
    });
    return usage.counting;
  }
}

/** Of all these queues together; those that are not there have none. */
async function readyIn(session: RabbitSession, queues: readonly string[]): Promise<number> {
  let [ready, next] = [0, 0];
  const countOn = (): Promise<void> =>
    onChannel(session, async (channel) => {
      for (const queue of queues.slice(next)) {
        next++;
        ready += (await channel.checkQueue(queue)).messageCount;
      }
    });
  while (next < queues.length)
    await countOn().catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === NOT_FOUND)) throw error;
    });
  return ready;
}
