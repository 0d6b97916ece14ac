/** Maps the calls of the public suite to methods of surfaces, and their answers to what the suite reads. */
import { type ErrorCode, SURFACE_NAMES } from '@gantry/protocol';
import { type DataObject, decodeBase64, LINK_ROOT } from '@gantry/surfaces';

export interface Operation {
  /** The path in `ctx`. */
  readonly path: string;
  readonly takes?: (args: DataObject) => DataObject;
  /** `publicUrl` is the URL of this host for clients. */
  readonly gives?: (answer: DataObject, args: DataObject, publicUrl: string) => DataObject;
  /** The answer for the suite if a surface refuses with this code because the item does not exist. */
  readonly absent?: { readonly code: ErrorCode; readonly answer: DataObject };
}

export const SEAM_SURFACES: readonly string[] = SURFACE_NAMES.map(({ seam }) => seam);

const ofTopic = ({ subject, ...args }: DataObject): DataObject =>
  subject === undefined ? args : { ...args, topic: subject };
const ofStream = ({ stream, ...args }: DataObject): DataObject =>
  stream === undefined ? args : { ...args, topic: stream };

const isList = (value: unknown): value is readonly DataObject[] => Array.isArray(value);

/** The suite expects one message at a time. */
function firstMessage({ messages }: DataObject, { topic = '' }: DataObject): DataObject {
  const first = isList(messages) ? messages[0] : undefined;
  return first ? { found: true, subject: topic, ...first } : { found: false };
}

const toBytes = ({ contentBase64, ...args }: DataObject): DataObject =>
  typeof contentBase64 === 'string' ? { ...args, bytes: decodeBase64(contentBase64, 'contentBase64') } : args;

const toBase64 = (answer: DataObject): DataObject =>
  answer.bytes instanceof Uint8Array
    ? { ...answer, contentBase64: Buffer.from(answer.bytes).toString('base64') }
    : answer;

/** Older drivers prepend the host's URL themselves; a link to another server is not changed. */
const withoutOrigin = ({ url, ...answer }: DataObject, _args: DataObject, publicUrl: string): DataObject => ({
  ...answer,
  url:
    typeof url === 'string' && url.startsWith(`${publicUrl}${LINK_ROOT}`)
      ? url.slice(publicUrl.length)
      : url!,
});

const SPOKEN: Readonly<Record<string, Omit<Operation, 'path'>>> = {
  'cache.get': { gives: (answer) => ({ ...answer, found: 'value' in answer }) },
  'table.query': {
    gives: (answer) => ({ nextCursor: null, ...answer }),
    absent: { code: 'table_not_found', answer: { rows: [], nextCursor: null } },
  },
  'blob.get': { absent: { code: 'blob_object_not_found', answer: { found: false } } },
  'blob.presign': { gives: withoutOrigin },
  'queueBus.publish': { takes: ofTopic },
  'queueBus.consume': {
    takes: (args) => ({ maxMessages: 1, ...ofTopic(args) }),
    gives: firstMessage,
    absent: { code: 'queue_topic_not_found', answer: { found: false } },
  },
  'queueBus.ack': { gives: (answer) => ({ ...answer, acked: answer.ok! }) },
  'queueBus.deadLetter': {
    gives: (answer) => ({ ...answer, deadLettered: answer.ok!, dlqSubject: answer.deadLetterTopic! }),
  },
  'queueBus.streamSubscribe': {
    takes: (args) => ({ ...ofStream(args), follow: false }),
    gives: ({ items }, { fromBeginning = false }) => ({
      records: items ?? [],
      fromBeginningSnapshot: fromBeginning,
    }),
    absent: { code: 'queue_topic_not_found', answer: { records: [] } },
  },
  'vector.query': { absent: { code: 'vector_collection_not_found', answer: { matches: [] } } },
  'search.query': { absent: { code: 'search_index_not_found', answer: { hits: [] } } },
  'fs.read': { gives: toBase64 },
  'fs.write': { takes: toBytes },
};

/** Null for a surface that the suite does not know. */
export function operationOf(surface: string, op: string): Operation | null {
  const path = SURFACE_NAMES.find(({ seam }) => seam === surface)?.path;
  const name = `${surface}.${op}`;
  return path === undefined
    ? null
    : { path: `${path}.${op}`, ...(Object.hasOwn(SPOKEN, name) ? SPOKEN[name] : {}) };
}
