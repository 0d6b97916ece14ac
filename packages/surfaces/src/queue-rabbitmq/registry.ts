/**
 * Which topics and groups there are: RabbitMQ tells nobody. A log of its own, which every process reads and follows.
 *
 * R1  A place is announced before it is made, and again when it is used after a quarter of the time that messages are
 *     kept.
 * R2  So one that was announced last before that time and a quarter is used by nobody. It is removed, under the lock
 *     that makers of places hold too, after a look at all that was announced until then.
 */
import { randomUUID } from 'node:crypto';
import type { QueueBounds } from '../ports/queue.ts';
import { tooManyGroups, tooManyGroupsInAll, tooManyTopics } from '../queue/errors.ts';
import { append, readLog } from './log.ts';
import { MARK } from './log-writers.ts';
import { type DefaultGroupState, isDefaultGroup, laterState, namesOf, type Place } from './names.ts';
import { onChannel, type RabbitSession } from './session.ts';
import { untilSettled } from './settled.ts';

const LOG = 'gantry.queue.places';
const MS = 1_000;
const SEGMENT_BYTES = 1_048_576;
/** So that what was announced last is still there when it is removed. */
const KEPT_TIMES = 3;
/** Of all topics of a tenant together: each is looked at when room gets short. */
const GROUPS_OF_TOPIC = 2;

/** As it is written into the log. `unread` is the state of the default group. */
type Notice = Place &
  (
    | { readonly kind: 'used'; readonly at: number; readonly unread?: DefaultGroupState }
    | { readonly kind: 'gone' }
  );

interface Topic {
  defaultGroup: DefaultGroupState;
  /** When each was announced last. */
  readonly groups: Map<string, number>;
}
type Topics = Map<string, Topic>;

export interface Announcement {
  readonly bounded: boolean;
  /** What becomes of it. */
  readonly defaultGroup?: DefaultGroupState;
}

export interface RegistryOptions {
  readonly session: RabbitSession;
  readonly bounds: QueueBounds;
  readonly now: () => number;
}

export class Registry {
  readonly #options: RegistryOptions;
  readonly #tenants = new Map<string, Topics>();
  /** Of those who want to have read until now. */
  readonly #marks = new Map<string, () => void>();
  /** Rejects when the log can no longer be followed. */
  readonly ended: Promise<never>;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.ended = this.#follow().then(() => Promise.reject(new Error('the session has ended')));
    this.ended.catch(() => {});
  }

  async #follow(): Promise<void> {
    const { session } = this.#options;
    for await (const { messageId, body } of readLog(session, LOG, { start: 'first', signal: session.lost })) {
      this.#marks.get(messageId)?.();
      const notice = readNotice(body);
      if (notice) this.#apply(notice);
    }
  }

  /** Knows all that was announced until it was asked. */
  async caughtUp(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const mark = randomUUID();
    this.#marks.set(mark, resolve);
    try {
      await append(this.#options.session, LOG, { messageId: mark, body: MARK });
      await Promise.race([promise, this.ended]);
    } finally {
      this.#marks.delete(mark);
    }
  }

  /** How long it may have been unused; infinite for what is not there. */
  ageOf({ tenant, topic, group }: Place, now = this.#options.now()): number {
    const at = this.#tenants.get(tenant)?.get(topic)?.groups.get(group);
    return at === undefined ? Number.POSITIVE_INFINITY : now - at;
  }

  /** Of the topic of this place. */
  defaultGroupStateOf({ tenant, topic }: Place): DefaultGroupState {
    return this.#tenants.get(tenant)?.get(topic)?.defaultGroup ?? 'kept';
  }

  /** Of one topic when it is named. */
  groupsOf(tenant: string, topic?: string): Place[] {
    const topics = [...(this.#tenants.get(tenant) ?? [])].filter(([name]) => name === (topic ?? name));
    return topics.flatMap(([name, { groups }]) =>
      [...groups.keys()].map((group) => ({ tenant, topic: name, group })),
    );
  }

  /** Those that messages go to. */
  queuesOf(tenant: string, topic?: string): Place[] {
    const isThere = (place: Place): boolean =>
      !isDefaultGroup(place) || this.defaultGroupStateOf(place) !== 'dropped';
    return this.groupsOf(tenant, topic).filter(isThere);
  }

  /** R1. `bounded`: refuses one too many. */
  async announce(place: Place, { bounded, defaultGroup = 'kept' }: Announcement): Promise<void> {
    if (bounded) this.#check(place, defaultGroup);
    const state = laterState(defaultGroup, this.defaultGroupStateOf(place));
    const about = isDefaultGroup(place) ? { unread: state } : {};
    await this.#say({ ...place, kind: 'used', at: this.#options.now(), ...about });
  }

  /** The topic itself, when it is the default group. */
  removed(place: Place): Promise<void> {
    return this.#say({ ...place, kind: 'gone' });
  }

  /** R2. A default group stands for its topic. */
  unused(now: number): Place[] {
    const all = [...this.#tenants].flatMap(([tenant, topics]) =>
      [...topics.keys()].map((topic) => ({ tenant, topic })),
    );
    return all.flatMap(({ tenant, topic }) => {
      const base = { tenant, topic, group: topic };
      if (this.isUnused(base, now)) return [base];
      return this.groupsOf(tenant, topic).filter((each) => !isDefaultGroup(each) && this.isUnused(each, now));
    });
  }

  isUnused(place: Place, now: number): boolean {
    const isOld = (each: Place): boolean => this.ageOf(each, now) > 1.25 * this.#options.bounds.retentionMs;
    return isDefaultGroup(place) ? this.groupsOf(place.tenant, place.topic).every(isOld) : isOld(place);
  }

  #check(place: Place, defaultGroup: DefaultGroupState): void {
    const { topicsMax, groupsMax } = this.#options.bounds;
    const topics: Topics = this.#tenants.get(place.tenant) ?? new Map();
    if (isDefaultGroup(place) && !topics.has(place.topic) && topics.size >= topicsMax)
      throw tooManyTopics(topicsMax);
    const isGroup = !isDefaultGroup(place) || defaultGroup === 'claimed';
    const isAsked = (each: Place): boolean =>
      !isDefaultGroup(each) || this.defaultGroupStateOf(each) === 'claimed';
    const groups = this.groupsOf(place.tenant, place.topic).filter(isAsked);
    if (!isGroup || groups.some(({ group }) => group === place.group)) return;
    if (groups.length >= groupsMax) throw tooManyGroups(groupsMax);
    const groupsInAll = GROUPS_OF_TOPIC * topicsMax;
    if (this.groupsOf(place.tenant).length >= groupsInAll) throw tooManyGroupsInAll(groupsInAll);
  }

  async #say(notice: Notice): Promise<void> {
    this.#apply(notice);
    await append(this.#options.session, LOG, { messageId: '', body: Buffer.from(JSON.stringify(notice)) });
  }

  #apply(notice: Notice): void {
    const { tenant, topic, group } = notice;
    const topics: Topics = this.#tenants.get(tenant) ?? new Map();
    const found: Topic = topics.get(topic) ?? { defaultGroup: 'kept', groups: new Map() };
    const { groups } = found;
    if (notice.kind === 'used') {
      found.defaultGroup = laterState(notice.unread ?? 'kept', found.defaultGroup);
      groups.set(group, Math.max(notice.at, groups.get(group) ?? 0));
      this.#tenants.set(tenant, topics.set(topic, found));
      return;
    }
    const { known } = this.#options.session;
    const gone = isDefaultGroup(notice) ? this.groupsOf(tenant, topic) : [notice];
    for (const place of gone) {
      known.delete(namesOf(place).queue);
      groups.delete(place.group);
    }
    if (!isDefaultGroup(notice)) return;
    known.delete(namesOf(notice).exchange);
    topics.delete(topic);
    if (topics.size === 0) this.#tenants.delete(tenant);
  }
}

function readNotice(body: Buffer): Notice | null {
  try {
    const notice: Notice = JSON.parse(body.toString());
    return notice.kind === 'used' || notice.kind === 'gone' ? notice : null;
  } catch {
    return null;
  }
}

export type Registries = (session: RabbitSession) => Promise<Registry>;

/** One for each session. */
export function registries(bounds: QueueBounds, now: () => number): Registries {
  const opened = new WeakMap<RabbitSession, Promise<Registry>>();
  return (session) => {
    const known = opened.get(session);
    if (known) return known;
    const opening = open({ session, bounds, now });
    opened.set(session, opening);
    opening.then(({ ended }) => ended).catch(() => opened.delete(session));
    return opening;
  };
}

async function open(options: RegistryOptions): Promise<Registry> {
  const { session, bounds } = options;
  await onChannel(session, (channel) =>
    channel.assertQueue(LOG, {
      durable: true,
      arguments: {
        'x-queue-type': 'stream',
        'x-max-age': `${Math.ceil((KEPT_TIMES * bounds.retentionMs) / MS)}s`,
        'x-stream-max-segment-size-bytes': SEGMENT_BYTES,
      },
    }),
  );
  await untilSettled(session, LOG);
  const registry = new Registry(options);
  await registry.caughtUp();
  return registry;
}
