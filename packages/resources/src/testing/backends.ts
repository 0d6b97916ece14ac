/** The stores on which the tests of this package run. */
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import { freshFolder } from '../../../store/src/testing/data-dir.ts';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';

export interface Backend {
  readonly name: string;
  readonly skip: string | false;
  /** Each call opens another process's view of the same data, where that is possible. */
  readonly open: () => Promise<Store>;
  readonly remove: () => Promise<void>;
  /** For other processes: a URL, or a data folder. */
  readonly location: string;
}

export async function backends(): Promise<Backend[]> {
  const folder = freshFolder();
  const database = await freshDatabase();
  const url = 'url' in database ? database.url : '';
  return [
    {
      name: 'sqlite',
      skip: false,
      open: () => openSqlite({ dataDir: folder.path }),
      remove: async () => folder.remove(),
      location: folder.path,
    },
    {
      name: 'postgres',
      skip: 'skip' in database && database.skip,
      open: () => openPostgres({ url }),
      remove: async () => void ('drop' in database && (await database.drop())),
      location: url,
    },
  ];
}
