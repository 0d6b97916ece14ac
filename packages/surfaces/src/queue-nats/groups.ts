/** Groups are consumers of the stream: how many there are, and what all of them are done with. */
import { type ConsumerInfo, JetStreamApiCodes, type StoredMsg } from '@nats-io/jetstream';
import type { QueueBounds } from '../ports/queue.ts';
import { tooManyGroups, tooManyGroupsInAll } from '../queue/errors.ts';
import type { NatsSession } from './connection.ts';
import { apiCodeOf, isMissing } from './errors.ts';

/** Of all topics of a tenant together, by the number that one topic may have. */
const ALL_TOPICS = 20;

async function groupsOf({ manager }: NatsSession, stream: string): Promise<ConsumerInfo[]> {
  const groups: ConsumerInfo[] = [];
  // Those who read a topic as a stream have no durable name
  for await (const info of manager.consumers.list(stream)) if (info.config.durable_name) groups.push(info);
  return groups;
}

/** Throws when a group that is not there yet would be one too many. */
export async function checkGroup(
  session: NatsSession,
  group: { readonly stream: string; readonly name: string; readonly subject: string },
  { groupsMax }: QueueBounds,
): Promise<void> {
  const { stream, name, subject } = group;
  const known = await session.manager.consumers.info(stream, name).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (known) return;
  const groups = await groupsOf(session, stream);
  if (groups.length >= ALL_TOPICS * groupsMax) throw tooManyGroupsInAll(ALL_TOPICS * groupsMax);
  if (groups.filter(({ config }) => config.filter_subject === subject).length >= groupsMax)
    throw tooManyGroups(groupsMax);
}

const DROPS_MAX = 200;

/**
 * Oldest first, so many bytes or a little more. Topics without groups keep all. Answers how many messages went. They go
 * one by one: when a stream is purged, nats-server 2.9 forgets all that its consumers were given and have not
 * acknowledged, so that it never comes again.
 */
export async function dropConsumed(session: NatsSession, stream: string, bytes: number): Promise<number> {
  let [dropped, freed] = [0, 0];
  for (const [subject, done] of await doneBySubject(session, stream))
    for (let seq = 1; dropped < DROPS_MAX && freed < bytes; dropped++) {
      const oldest = await nextOf(session, stream, { seq, next_by_subj: subject });
      if (!oldest || oldest.seq > done) break;
      seq = oldest.seq + 1;
      freed += oldest.data.length;
      await remove(session, stream, oldest.seq);
    }
  return dropped;
}

/** Up to where all groups of a topic have acknowledged. */
async function doneBySubject(session: NatsSession, stream: string): Promise<ReadonlyMap<string, number>> {
  const all = new Map<string, number>();
  for (const { config, ack_floor } of await groupsOf(session, stream)) {
    const subject = config.filter_subject ?? '';
    all.set(subject, Math.min(all.get(subject) ?? Number.POSITIVE_INFINITY, ack_floor.stream_seq));
  }
  return all;
}

async function nextOf(
  { manager }: NatsSession,
  stream: string,
  query: { readonly seq: number; readonly next_by_subj: string },
): Promise<StoredMsg | null> {
  try {
    return await manager.streams.getMessage(stream, query);
  } catch (error) {
    if (apiCodeOf(error) === JetStreamApiCodes.NoMessageFound) return null;
    throw error;
  }
}

/** Another process may have been first. */
async function remove({ manager }: NatsSession, stream: string, seq: number): Promise<void> {
  try {
    await manager.streams.deleteMessage(stream, seq, false);
  } catch (error) {
    if (apiCodeOf(error) === null) throw error;
  }
}

/**
 * Whether a group has messages before it, by what the stream has. A pull that does not wait is answered from a count
 * that nats-server brings up to date only after it has confirmed a message: on a busy machine one of a thousand that
 * follow a publish misses it.
 */
export async function isBehind(
  session: NatsSession,
  {
    stream,
    consumer,
    subject,
  }: { readonly stream: string; readonly consumer: string; readonly subject: string },
): Promise<boolean> {
  const { delivered } = await session.manager.consumers.info(stream, consumer);
  return (await nextOf(session, stream, { seq: delivered.stream_seq + 1, next_by_subj: subject })) !== null;
}
