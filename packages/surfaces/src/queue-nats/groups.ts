/** Groups are consumers of the stream: how many there are, and what all of them are done with. */
import type { ConsumerInfo } from '@nats-io/jetstream';
import type { QueueBounds } from '../ports/queue.ts';
import { tooManyGroups, tooManyGroupsInAll } from '../queue/errors.ts';
import type { NatsSession } from './connection.ts';
import { isMissing } from './errors.ts';

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

/** Topics without groups keep all. Answers how many messages went. */
export async function dropConsumed(session: NatsSession, stream: string): Promise<number> {
  const doneBySubject = new Map<string, number>();
  for (const { config, ack_floor } of await groupsOf(session, stream)) {
    const subject = config.filter_subject ?? '';
    const done = doneBySubject.get(subject) ?? Number.POSITIVE_INFINITY;
    doneBySubject.set(subject, Math.min(done, ack_floor.stream_seq));
  }
  let dropped = 0;
  for (const [filter, done] of doneBySubject) {
    if (done === 0) continue;
    const { purged } = await session.manager.streams.purge(stream, { filter, seq: done + 1 });
    dropped += purged;
  }
  return dropped;
}
