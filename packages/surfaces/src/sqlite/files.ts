/** Metadata of files that is not in the file system, and pending changes of files. */
import { type FileRoom, NAME_BYTES } from '../ports/files.ts';
import { Refusal } from '../refusal.ts';
import { defineArea, isRecorded, type Sql, usedBytes } from './statements.ts';

export interface FileChange {
  readonly tenant: string;
  readonly invocation: string;
  readonly method: string;
  readonly fingerprint: string;
  readonly workspace: string;
  readonly path: string;
  readonly kind: 'write' | 'delete';
  /** The name of a file next to the workspace folders. */
  readonly staged: string;
  readonly bytes: number;
  readonly contentType: string | null;
}

interface FileRow {
  readonly tenant: string;
  readonly workspace: string;
  readonly path: string;
}

interface Wrote {
  readonly path: string;
  readonly sizeBytes: number;
}

const wroteOf = ({ path, bytes }: FileChange): Wrote => ({ path, sizeBytes: bytes });

export const fileArea = defineArea({
  reads: (sql) => ({
    contentType: ({ tenant, workspace, path }: FileRow): string | null =>
      sql.get<{ content_type: string | null }>`
        select content_type from files where tenant = ${tenant} and workspace = ${workspace} and path = ${path}
      `?.content_type ?? null,
    /** The state of a call: recorded, in progress, or not begun. */
    progress: (tenant: string, invocation: string): 'recorded' | FileChange | null =>
      isRecorded(sql, tenant, invocation)
        ? 'recorded'
        : (sql.get<FileChange>`
            select *, content_type as contentType from file_changes
            where tenant = ${tenant} and invocation = ${invocation}
          ` ?? null),
    changes: (limit: number): FileChange[] =>
      sql.all`select *, content_type as contentType from file_changes limit ${limit} + 0`,
  }),
  writes: (sql) => ({
    begin(change: FileChange, room: FileRoom): void {
      const { tenant, invocation, method, fingerprint, workspace, path } = change;
      const { kind, staged, bytes, contentType } = change;
      if (kind === 'write') checkRoom(sql, change, room);
      sql.run`
        insert into file_changes
          (tenant, invocation, method, fingerprint, workspace, path, kind, staged, bytes, content_type)
        values (${tenant}, ${invocation}, ${method}, ${fingerprint}, ${workspace}, ${path}, ${kind}, ${staged},
          ${bytes}, ${contentType})
      `;
    },
    abandon: (tenant: string, invocation: string): void => forget(sql, tenant, invocation),
    wrote(change: FileChange): Wrote {
      settle(sql, change);
      return wroteOf(change);
    },
    /** Null: there was no such file. */
    deleted(change: FileChange | null): { deleted: boolean } {
      if (change) settle(sql, change);
      return { deleted: change !== null };
    },
    /** Completes a change of a dead process: its caller gets the answer when it repeats the call. */
    recover(change: FileChange, now: number): void {
      const { tenant, invocation, method, fingerprint, kind } = change;
      settle(sql, change);
      const answer = JSON.stringify(kind === 'write' ? wroteOf(change) : { deleted: true });
      sql.run`
        insert or ignore into invocations
        values (${tenant}, ${invocation}, ${method}, ${fingerprint}, ${answer}, ${now})
      `;
    },
  }),
});

function checkRoom(sql: Sql, change: FileChange, { bytesMax, filesMax }: FileRoom): void {
  const { tenant, workspace, path } = change;
  const stored = sql.get<{ bytes: number }>`
    select bytes from files where tenant = ${tenant} and workspace = ${workspace} and path = ${path}
  `;
  const growth = growthOf({ ...change, before: stored?.bytes ?? null });
  const promised = changesUnderWay(sql, tenant);
  if (growth > 0 && usedBytes(sql, 'files', tenant) + promised.bytes + growth > bytesMax)
    throw new Refusal('fs_quota_exhausted', { details: { quotaBytes: bytesMax } });
  const counted = sql.number`select files from file_counts where tenant = ${tenant}`;
  if (!stored && counted + promised.files >= filesMax)
    throw new Refusal('fs_quota_exhausted', {
      message: `This tenant has ${filesMax} files, the maximum. Delete files, or put more into each.`,
      details: { maxFiles: filesMax },
    });
}

interface Growth {
  readonly path: string;
  readonly bytes: number;
  /** Null if the file does not exist. */
  readonly before: number | null;
}

const growthOf = ({ path, bytes, before }: Growth): number =>
  before === null ? bytes + NAME_BYTES * path.split('/').length : bytes - before;

/** Pending writes of other workspaces of a tenant count too; otherwise they could exceed the quota together. */
function changesUnderWay(sql: Sql, tenant: string): { bytes: number; files: number } {
  const growths = sql.all<Growth>`
    select path, c.bytes as bytes, files.bytes as before
    from file_changes c left join files using (tenant, workspace, path)
    where tenant = ${tenant} and kind = 'write'
  `;
  return {
    bytes: growths.reduce((sum, growth) => sum + Math.max(0, growthOf(growth)), 0),
    files: growths.filter(({ before }) => before === null).length,
  };
}

function settle(
  sql: Sql,
  { tenant, invocation, kind, workspace, path, bytes, contentType }: FileChange,
): void {
  if (kind === 'write')
    sql.run`
      insert into files values (${tenant}, ${workspace}, ${path}, ${bytes}, ${contentType})
      on conflict do update set bytes = excluded.bytes, content_type = excluded.content_type
    `;
  else sql.run`delete from files where tenant = ${tenant} and workspace = ${workspace} and path = ${path}`;
  forget(sql, tenant, invocation);
}

const forget = (sql: Sql, tenant: string, invocation: string): void =>
  void sql.run`delete from file_changes where tenant = ${tenant} and invocation = ${invocation}`;
