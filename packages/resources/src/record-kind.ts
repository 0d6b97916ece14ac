/** How records of one kind are stored as entries. */
import { DEFAULT_WORKSPACE, type ErrorCode, OpenwopError } from '@gantry/protocol';
import type { Entry, EntryFilter, EntryKey, EntryReads, IndexValue, NewEntry, Write } from '@gantry/store';

export interface RecordKind<R extends object> {
  /** The kind of its entries. */
  readonly kind: string;
  /** The prefix of generated ids, such as `sch`. */
  readonly idPrefix: string;
  /** The callers that can see a record: all of its tenant (the default), or those of its workspace. */
  readonly boundary?: 'tenant' | 'workspace';
  /** The error for an id that does not exist; `not_found` if absent. */
  readonly missing?: ErrorCode | (() => OpenwopError);
  /**
   * The maximum number per tenant, or per workspace with that boundary. Up to 1,000 per tenant, records are counted at
   * each creation; otherwise there is a counter.
   */
  readonly max?: number;
  /** For a kind with a counter: which records count. Not those that expire automatically. All if absent. */
  readonly counts?: (record: R) => boolean;
  /** Whether changes are written to the feed. */
  readonly feed?: boolean;
  /** The values by which records are found. */
  readonly index?: Readonly<Record<string, (record: R) => string | readonly string[] | null>>;
  /** Names of `index` whose values no two records share, in a tenant or in a workspace with that boundary. */
  readonly unique?: readonly string[];
  /** The owner of the record: entries can be listed by it without an index. */
  readonly ref?: (record: R) => string;
  /** Fields of type `Secret` that are sealed before they are stored; `openSecret` opens them. */
  readonly secret?: readonly (keyof R & string)[];
  /** For sealed texts elsewhere: the fields that have some, with each text replaced by the result of `again`. */
  readonly reseal?: (
    record: R,
    of: Pick<EntryKey, 'tenant' | 'id'>,
    again: (sealed: string, context: string) => string,
  ) => Partial<Record<keyof R, unknown>>;
  readonly dueAt?: (record: R) => number | null;
  readonly expiresAt?: (record: R, now: number) => number | null;
  /** Its last change is stored beside the record. */
  readonly isTracked?: boolean;
  /** Records of other kinds are removed with it (`parent` in their literal). */
  readonly isParent?: true;
  /** The run with which the record is deleted. */
  readonly endsWithRun?: (record: R) => string | null;
}

/** A record as it was read or written. */
export interface Stored<R extends object> {
  readonly kind: RecordKind<R>;
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  readonly workspace: string;
  readonly createdAt: number;
  readonly record: R;
  /** The last change, of a tracked kind; absent if it was never changed. */
  readonly updated?: Update;
}

export interface Update {
  readonly at: number;
  /** The actor of its caller. */
  readonly by: string;
}

/** A row without a workspace belongs to the default one. */
export const workspaceOf = ({ workspace }: Pick<Entry, 'workspace'>): string =>
  workspace ?? DEFAULT_WORKSPACE;

/** The record of an entry. The only place that trusts a body to be of its kind. */
export const fromEntry = <R extends object>(kind: RecordKind<R>, entry: Entry): Stored<R> => {
  const { tenant, id, version, createdAt, body } = entry;
  const stored = { kind, tenant, id, version, workspace: workspaceOf(entry), createdAt };
  const parsed = JSON.parse(body);
  if (!kind.isTracked) return { ...stored, record: parsed };
  const { [UPDATED]: updated, ...record } = parsed;
  return { ...stored, record, ...(updated && { updated }) };
};

/** Beside the fields of a record, in its body. */
const UPDATED = '$updated';

/** The current record; null if the tenant has no such record. */
export async function readRecord<R extends object>(
  entries: Pick<EntryReads, 'get'>,
  kind: RecordKind<R>,
  tenant: string,
  id: string,
): Promise<Stored<R> | null> {
  const entry = await entries.get(keyOf(kind, tenant, id));
  return entry && fromEntry(kind, entry);
}

export async function listRecords<R extends object>(
  entries: Pick<EntryReads, 'list'>,
  kind: RecordKind<R>,
  tenant: string,
  filter: EntryFilter,
): Promise<Stored<R>[]> {
  return (await entries.list(kind.kind, tenant, filter)).map((entry) => fromEntry(kind, entry));
}

const PAGE = 256;

/** Records of all tenants. Only one page is in memory. */
export async function* everyRecord<R extends object>(
  entries: Pick<EntryReads, 'all'>,
  kind: RecordKind<R>,
): AsyncGenerator<Stored<R>> {
  for (let after: Entry | null = null; ; ) {
    const page: Entry[] = await entries.all(kind.kind, after, PAGE);
    for (const entry of page) yield fromEntry(kind, entry);
    after = page.at(-1) ?? null;
    if (page.length < PAGE) return;
  }
}

/** Creates the record outside of a change, for callers that make their own commit. */
export function creation<R extends object>(
  kind: RecordKind<R>,
  {
    workspace = DEFAULT_WORKSPACE,
    ...of
  }: { readonly tenant: string; readonly id: string; readonly workspace?: string },
  record: NoInfer<R>,
  now: number,
): Write {
  const entry = toEntry({ ...of, kind, workspace, createdAt: now, record }, now);
  return { kind: 'putEntry', entry, expectedVersion: null, ...ownFeed(kind, now) };
}

/** The host itself is no actor. */
const ownFeed = ({ feed }: { readonly feed?: boolean }, at: number) =>
  feed ? { feed: { actor: null, at } } : {};

/** Replaces a record that was read outside of a change, or creates it. */
export function putting<R extends object>(
  kind: RecordKind<R>,
  of: { readonly tenant: string; readonly id: string },
  record: NoInfer<R>,
  { before, now }: { readonly before: Stored<R> | null; readonly now: number },
): Write {
  if (!before) return creation(kind, of, record, now);
  const entry = toEntry({ ...before, record }, now);
  return { kind: 'putEntry', entry, expectedVersion: before.version, ...ownFeed(kind, now) };
}

export function toEntry<R extends object>(stored: Omit<Stored<R>, 'version'>, now: number): NewEntry {
  const { kind, tenant, id, workspace, createdAt, record, updated } = stored;
  const runId = kind.endsWithRun?.(record) ?? null;
  return {
    ...keyOf(kind, tenant, id),
    workspace,
    ref: kind.ref?.(record) ?? null,
    dueAt: kind.dueAt?.(record) ?? null,
    expiresAt: kind.expiresAt?.(record, now) ?? null,
    createdAt,
    body: JSON.stringify(kind.isTracked && updated ? { ...record, [UPDATED]: updated } : record),
    index: indexOf(kind, workspace, record),
    ...(runId !== null && { runId }),
  };
}

const COUNTED_MAX = 1_000;

/** The counter of a record, if its kind has one: that of its workspace if it is not visible outside. */
export function counterOf<R extends object>(
  { kind, boundary, max, counts = () => true }: RecordKind<R>,
  workspace: string,
  record: R,
): Omit<EntryKey, 'tenant'> | null {
  if (max === undefined || !counts(record)) return null;
  if (boundary === 'workspace') return { kind: `${kind}-count`, id: workspace };
  return max > COUNTED_MAX ? { kind: `${kind}-count`, id: 'all' } : null;
}

export const keyOf = ({ kind }: { readonly kind: string }, tenant: string, id: string): EntryKey => ({
  kind,
  tenant,
  id,
});

export function missing({ kind, missing: code }: Pick<RecordKind<object>, 'kind' | 'missing'>): OpenwopError {
  if (typeof code === 'function') return code();
  return code
    ? new OpenwopError(code)
    : new OpenwopError('not_found', { message: `There is no ${kind} with this id.` });
}

/** The index by which the records of one workspace are listed. */
export const workspaceIndex = (workspace: string): IndexValue => ({
  name: '$workspace',
  value: workspace,
});

/** Not in names of workspaces. NUL is refused by PostgreSQL. */
const AFTER_WORKSPACE = '\u001f';

/**
 * The stored form of an index value. With a workspace boundary it begins with the workspace, so that values are
 * unique, and listed, in each of them.
 */
export const indexed = (
  { boundary }: Pick<RecordKind<never>, 'boundary'>,
  workspace: string,
  value: string,
): string => (boundary === 'workspace' ? `${workspace}${AFTER_WORKSPACE}${value}` : value);

function indexOf<R extends object>(kind: RecordKind<R>, workspace: string, record: R): IndexValue[] {
  const { index = {}, unique = [], boundary } = kind;
  const own = Object.entries(index).flatMap(([name, valuesOf]) => {
    const values = [valuesOf(record) ?? []].flat().map((value) => indexed(kind, workspace, value));
    return values.map((value) => ({ name, value, ...(unique.includes(name) && { unique: true as const }) }));
  });
  return boundary === 'workspace' ? [...own, workspaceIndex(workspace)] : own;
}
