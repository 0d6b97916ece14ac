/** What is known of files beside the file system, and which changes of them are under way. */
import type { DatabaseSync } from 'node:sqlite';
import { type FileRoom, NAME_BYTES } from '../ports/files.ts';
import { Refusal } from '../refusal.ts';
import { defineArea, LIMIT } from './statements.ts';

export interface FileChange {
  readonly tenant: string;
  readonly invocation: string;
  readonly method: string;
  readonly fingerprint: string;
  readonly workspace: string;
  readonly path: string;
  readonly kind: 'write' | 'delete';
  /** The name of a file beside the folders of the workspaces. */
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

const CHANGES = `
  select tenant, invocation, method, fingerprint, workspace, path, kind, staged, bytes, content_type as contentType
  from file_changes
`;

const changeOf = (row: unknown): FileChange => ({ ...(row as FileChange) });

export const fileArea = defineArea({
  reads: (database) => {
    const type = database.prepare(
      'select content_type from files where tenant = ? and workspace = ? and path = ?',
    );
    const recorded = database.prepare('select 1 from invocations where tenant = ? and journal_key = ?');
    const change = database.prepare(`${CHANGES} where tenant = ? and invocation = ?`);
    const changes = database.prepare(`${CHANGES} ${LIMIT}`);
    return {
      contentType: ({ tenant, workspace, path }: FileRow): string | null => {
        const found = type.get(tenant, workspace, path)?.content_type;
        return found === undefined || found === null ? null : String(found);
      },
      /** Where a call stands: on record, under way, or not begun. */
      progress: (tenant: string, invocation: string): 'recorded' | FileChange | null => {
        if (recorded.get(tenant, invocation)) return 'recorded';
        const found = change.get(tenant, invocation);
        return found ? changeOf(found) : null;
      },
      changes: (limit: number): FileChange[] => changes.all(limit).map(changeOf),
    };
  },
  writes: (database) => {
    const begin = beginning(database);
    const abandon = database.prepare('delete from file_changes where tenant = ? and invocation = ?');
    const settle = settling(database);
    const record = database.prepare('insert or ignore into invocations values (?, ?, ?, ?, ?, ?)');
    return {
      begin,
      abandon: (tenant: string, invocation: string): void => void abandon.run(tenant, invocation),
      wrote(change: FileChange): Wrote {
        settle(change);
        return wroteOf(change);
      },
      /** Null: there was nothing to delete. */
      deleted(change: FileChange | null): { deleted: boolean } {
        if (change) settle(change);
        return { deleted: change !== null };
      },
      /** What a dead process has left: its caller finds the answer when it comes again. */
      recover(change: FileChange, now: number): void {
        const { tenant, invocation, method, fingerprint, kind } = change;
        settle(change);
        const answer = kind === 'write' ? wroteOf(change) : { deleted: true };
        record.run(tenant, invocation, method, fingerprint, JSON.stringify(answer), now);
      },
    };
  },
});

function beginning(database: DatabaseSync) {
  const used = database.prepare(`select bytes from usage where area = 'files' and tenant = ?`);
  const stored = database.prepare('select bytes from files where tenant = ? and workspace = ? and path = ?');
  const counted = database.prepare('select files from file_counts where tenant = ?');
  const underWay = changesUnderWay(database);
  const insert = database.prepare(`
    insert into file_changes
      (tenant, invocation, method, fingerprint, workspace, path, kind, staged, bytes, content_type)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  `);
  const checkRoom = (change: FileChange, { bytesMax, filesMax }: FileRoom): void => {
    const { tenant, workspace, path } = change;
    const before = stored.get(tenant, workspace, path)?.bytes ?? null;
    const growth = growthOf({ ...change, before });
    const promised = underWay(tenant);
    if (growth > 0 && Number(used.get(tenant)?.bytes ?? 0) + promised.bytes + growth > bytesMax)
      throw new Refusal('fs_quota_exhausted', { details: { quotaBytes: bytesMax } });
    if (before === null && Number(counted.get(tenant)?.files ?? 0) + promised.files >= filesMax)
      throw new Refusal('fs_quota_exhausted', {
        message: `This tenant has ${filesMax} files, which is as many as it may have. Delete files, or put more into each.`,
        details: { maxFiles: filesMax },
      });
  };
  return (change: FileChange, room: FileRoom): void => {
    const { tenant, invocation, method, fingerprint, workspace, path, kind, staged, bytes, contentType } =
      change;
    if (kind === 'write') checkRoom(change, room);
    insert.run(tenant, invocation, method, fingerprint, workspace, path, kind, staged, bytes, contentType);
  };
}

interface Growth {
  readonly path: string;
  readonly bytes: number;
  /** Null when there is no such file. */
  readonly before: unknown;
}

const growthOf = ({ path, bytes, before }: Growth): number =>
  before === null ? bytes + NAME_BYTES * path.split('/').length : bytes - Number(before);

/** What other workspaces of a tenant are writing counts before it is there: else all pass the quota together. */
function changesUnderWay(database: DatabaseSync) {
  const writes = database.prepare(`
    select path, c.bytes as bytes, files.bytes as before
    from file_changes c left join files using (tenant, workspace, path)
    where tenant = ? and kind = 'write'
  `);
  return (tenant: string): { bytes: number; files: number } => {
    const growths = writes
      .all(tenant)
      .map(({ path, bytes, before }) => ({ path: String(path), bytes: Number(bytes), before }));
    return {
      bytes: growths.reduce((sum, growth) => sum + Math.max(0, growthOf(growth)), 0),
      files: growths.filter(({ before }) => before === null).length,
    };
  };
}

function settling(database: DatabaseSync) {
  const save = database.prepare(`
    insert into files values (?, ?, ?, ?, ?)
    on conflict do update set bytes = excluded.bytes, content_type = excluded.content_type
  `);
  const remove = database.prepare('delete from files where tenant = ? and workspace = ? and path = ?');
  const done = database.prepare('delete from file_changes where tenant = ? and invocation = ?');
  return ({ tenant, invocation, kind, workspace, path, bytes, contentType }: FileChange): void => {
    if (kind === 'write') save.run(tenant, workspace, path, bytes, contentType);
    else remove.run(tenant, workspace, path);
    done.run(tenant, invocation);
  };
}
