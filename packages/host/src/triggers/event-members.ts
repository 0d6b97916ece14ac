/** The members of trigger events, by the source of the event. */
import type { WorkflowVariable } from '@gantry/protocol';

type MemberType = WorkflowVariable['type'];

/** A member that is null here has any type: the sender decides. */
type Members = Readonly<Record<string, MemberType | null>>;

const INGESTED: Members = {
  source: 'string',
  subscriptionId: 'string',
  deliveryId: 'string',
  receivedAt: 'string',
  verified: 'boolean',
  contentTrust: 'string',
  dedupKey: 'string',
};

const EVENTS = {
  webhook: { webhook: 'object', 'webhook.method': 'string', 'webhook.headers': 'object', ...INGESTED },
  form: { form: 'object', 'form.fields': 'object', ...INGESTED },
  email: { email: 'object', ...INGESTED },
  queue: { payload: null, headers: 'object', messageId: 'string' },
  'channel-write': {
    value: null,
    type: 'string',
    triggerId: 'string',
    channel: 'string',
    runId: 'string',
    eventId: 'string',
  },
} satisfies Record<string, Members>;

export type EventSource = keyof typeof EVENTS;

/** The names with which paths begin; the content of the event is first. */
export const eventRoots = (source: EventSource): string[] =>
  Object.keys(EVENTS[source]).filter((path) => !path.includes('.'));

export const rootOf = (path: string): string => path.split('.', 1)[0] ?? '';

/** The type that a path has in every event of the source; undefined when the sender decides. */
export function eventTypeAt(source: EventSource, path: string): MemberType | undefined {
  const members: Members = EVENTS[source];
  return Object.hasOwn(members, path) ? (members[path] ?? undefined) : undefined;
}
