import Type, { type Static } from 'typebox';
import type { JsonObject } from './json.ts';
import { RunStatus } from './run.ts';
import { Count, optional, Text, Time, Values } from './schema.ts';

/** An event as the engine decides and folds it. Its sequence is its position in the log. */
export interface RunEvent {
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly nodeId?: string;
  readonly causationId?: string;
  /** The payload for readers: sensitive values are already masked. */
  readonly payload: JsonObject;
  /** The unmasked values, for folding only. Never sent to clients. */
  readonly sealed?: JsonObject;
  /** Set if the payload contains content from outside that came through a model or a tool. */
  readonly contentTrust?: 'untrusted';
}

/** An event that a node emits while it runs. */
export interface EmittedEvent {
  readonly type:
    | 'log.appended'
    | 'output.chunk'
    | 'cap.breached'
    | 'provider.usage'
    | 'budget.consumed'
    | 'agent.toolCalled'
    | 'agent.toolReturned'
    | 'egress.decided'
    | 'connector.authorized'
    | 'connector.auth_expired'
    | 'envelope.retry.attempted'
    | 'envelope.retry.exhausted'
    | 'envelope.refusal'
    | 'envelope.truncated'
    | 'envelope.nlToFormat.engaged'
    | 'envelope.recovery.applied'
    | 'model.capability.substituted'
    | 'model.capability.insufficient'
    | 'agent.promptResolved'
    | 'prompt.composed'
    | 'artifact.created';
  readonly payload: JsonObject;
  readonly causationId?: string;
  readonly contentTrust?: 'untrusted';
  /** The kind of the envelope that the run received. */
  readonly sealed?: { readonly envelope: string };
}

/** A stored event. Payloads are JSON text, so that reading a log needs no parsing. */
export interface StoredEvent {
  readonly sequence: number;
  readonly type: string;
  readonly at: number;
  readonly nodeId: string | null;
  readonly causationId: string | null;
  readonly payload: string;
  readonly sealed: string | null;
}

/** An event on the wire. */
export interface RunEventDoc {
  eventId: string;
  runId: string;
  type: string;
  payload: JsonObject;
  timestamp: string;
  sequence: number;
  nodeId?: string;
  causationId?: string;
  contentTrust?: 'trusted' | 'untrusted';
  schemaVersion: number;
  engineVersion: string;
}

/** `RunEventDoc` as a schema. Open: later versions may add fields. */
export const RunEventDocSchema = Type.Object({
  eventId: Type.String({ minLength: 1, maxLength: 128 }),
  runId: Type.String({ minLength: 1, maxLength: 128 }),
  type: Text,
  payload: Values,
  timestamp: Time,
  sequence: Count,
  nodeId: optional(Text),
  causationId: optional(Type.String({ minLength: 1, maxLength: 128 })),
  contentTrust: optional(Type.Enum(['trusted', 'untrusted'])),
  schemaVersion: Count,
  engineVersion: Type.String(),
});

/** Response of `GET /v1/runs/{runId}/events/poll`: both documented shapes in one. */
export const PollEventsResponse = Type.Object({
  runId: Type.String(),
  events: Type.Array(RunEventDocSchema),
  /** Where to continue: the last returned sequence; -1 if there is none. */
  lastEventSeq: Type.Integer({ minimum: -1 }),
  runStatus: RunStatus,
  isTerminal: Type.Boolean(),
  /** The same as `isTerminal`, under its other documented name. */
  isComplete: Type.Boolean(),
});
export type PollEventsResponse = Static<typeof PollEventsResponse>;

export const ENGINE_VERSION = 1;
export const EVENT_LOG_SCHEMA_VERSION = 2;
export const EVENT_SCHEMA_VERSION = 1;

/** Events with untrusted content are few, so the mark is the first member of `sealed`, not a column of every event. */
const UNTRUSTED = '{"contentTrust":"untrusted"';

/** Event ids are derived, so a crash between decision and commit never creates two ids. */
export const eventId = (runId: string, sequence: number): string => `${runId}.${sequence}`;

export function toStored(event: RunEvent, sequence: number): StoredEvent {
  const { contentTrust } = event;
  const sealed = contentTrust ? { contentTrust, ...event.sealed } : event.sealed;
  return {
    sequence,
    type: event.type,
    at: event.at,
    nodeId: event.nodeId ?? null,
    causationId: event.causationId ?? null,
    payload: JSON.stringify(event.payload),
    sealed: sealed ? JSON.stringify(sealed) : null,
  };
}

export function fromStored(stored: StoredEvent): RunEvent {
  return {
    type: stored.type,
    at: stored.at,
    ...(stored.nodeId !== null && { nodeId: stored.nodeId }),
    ...(stored.causationId !== null && { causationId: stored.causationId }),
    payload: JSON.parse(stored.payload),
    ...(stored.sealed !== null && unsealed(stored.sealed)),
  };
}

function unsealed(text: string): Pick<RunEvent, 'sealed' | 'contentTrust'> {
  const sealed: JsonObject = JSON.parse(text);
  if (!text.startsWith(UNTRUSTED)) return { sealed };
  const { contentTrust, ...rest } = sealed;
  return { contentTrust: 'untrusted', ...(Object.keys(rest).length > 0 && { sealed: rest }) };
}

/** The wire form as text, built without parsing the payload. */
export function eventDocJson(runId: string, event: StoredEvent): string {
  const node = event.nodeId === null ? '' : `,"nodeId":${JSON.stringify(event.nodeId)}`;
  const cause = event.causationId === null ? '' : `,"causationId":${JSON.stringify(event.causationId)}`;
  const trust = event.sealed?.startsWith(UNTRUSTED) ? ',"contentTrust":"untrusted"' : '';
  return (
    `{"eventId":"${eventId(runId, event.sequence)}","runId":"${runId}","type":"${event.type}"${node}` +
    `,"sequence":${event.sequence},"timestamp":"${new Date(event.at).toISOString()}"${cause}${trust}` +
    `,"schemaVersion":${EVENT_SCHEMA_VERSION},"engineVersion":"${ENGINE_VERSION}","payload":${event.payload}}`
  );
}
