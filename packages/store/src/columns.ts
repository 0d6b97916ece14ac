/** The rows of the port as columns, described once for both dialects and for reads and writes. */
import { textColumn } from './blob.ts';

/** A `blob` is a text that may be stored as a blob. */
type ColumnType = 'text' | 'bigint' | 'integer' | 'boolean' | 'blob';

/** Columns have the names of the members, in snake case. */
export interface Table {
  readonly name: string;
  readonly members: readonly (readonly [member: string, type: ColumnType])[];
}

/** `runs (runId text, nextSeq integer)`. */
function table(description: string): Table {
  const [name = '', members = ''] = description.trim().slice(0, -1).split(' (');
  return {
    name,
    members: members.split(',').map((each) => {
      const [member = '', type = ''] = each.trim().split(' ');
      return [member, type as ColumnType];
    }),
  };
}

export const columnOf = (member: string): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The start of an insert with all columns. */
export const insertInto = ({ name, members }: Table): string =>
  `insert into ${name} (${members.map(([member]) => columnOf(member)).join(', ')})`;

/** The columns of a select, named like the members. `at rest`: a large text stays a reference. */
const listed = ({ name, members }: Table, texts: 'whole' | 'at rest' = 'whole', except = ''): string =>
  members
    .filter(([member]) => member !== except)
    .map(([member, type]) => {
      const column = columnOf(member);
      if (type === 'blob' && texts === 'whole') return textColumn(name, column);
      return column === member ? `${name}.${column}` : `${name}.${column} as "${member}"`;
    })
    .join(', ');

export const RUNS = table(`
  runs (runId text, tenant text, workspace text, principal text, workflowId text, workflowHash text, scopeId text,
    createdAt bigint, request blob, status text, owner bigint, wakeAt bigint, endedAt bigint, nextSeq integer)
`);
export const EVENTS = table(`
  events (runId text, sequence integer, type text, at bigint, nodeId text, causationId text, payload blob, sealed blob)
`);
export const SNAPSHOTS = table('snapshots (runId text, nextSeq integer, state blob)');
export const IDEMPOTENCY = table(`
  idempotency (tenant text, operation text, key text, digest text, status integer, body blob, expiresAt bigint)
`);
export const INVOCATIONS = table(`
  invocations (tenant text, invocationId text, runId text, nodeId text, outcome blob, claimedAt bigint, claimId text,
    eventsPending boolean)
`);
export const DEFINITIONS = table('definitions (hash text, body blob)');
export const WORKFLOWS = table(`
  workflows (tenant text, workflowId text, hash text, version text, name text, registeredAt bigint, registeredBy text)
`);
export const KEYS = table(`
  keys (keyId text, tenant text, principal text, name text, hash text, scopes text, createdAt bigint,
    expiresAt bigint, revokedAt bigint, workspace text)
`);
export const ENTRIES = table(`
  entries (kind text, tenant text, id text, version bigint, workspace text, ref text, dueAt bigint, expiresAt bigint,
    createdAt bigint, runId text, body blob)
`);
export const ENTRY_INDEX = table(`
  entry_index (kind text, tenant text, name text, value text, id text, isUnique boolean)
`);
export const COUNTERS = table(`
  counters (kind text, tenant text, id text, value bigint, runId text, expiresAt bigint)
`);
export const FEED = table(`
  feed (kind text, tenant text, workspace text, id text, version bigint, op text, actor text, at bigint)
`);

export const RUN_COLUMNS = listed(RUNS);
export const EVENT_COLUMNS = listed(EVENTS, 'whole', 'runId');
export const SNAPSHOT_COLUMNS = listed(SNAPSHOTS, 'whole', 'runId');
export const IDEMPOTENCY_COLUMNS = listed(IDEMPOTENCY);
export const INVOCATION_COLUMNS = listed(INVOCATIONS);
export const DEFINITION_COLUMNS = listed(DEFINITIONS);
export const WORKFLOW_COLUMNS = listed(WORKFLOWS);
export const KEY_COLUMNS = listed(KEYS);
export const ENTRY_COLUMNS = listed(ENTRIES, 'whole', 'runId');
export const ENTRY_COLUMNS_AT_REST = listed(ENTRIES, 'at rest', 'runId');
export const FEED_COLUMNS = `feed.number, ${listed(FEED)}`;
