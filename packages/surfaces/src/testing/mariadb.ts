/** MariaDB, or the MySQL that is given. */
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { openTest, type ServerKind, skipOf } from './server-kind.ts';
import { binary, freePort, run } from './servers.ts';

const [server, installer] = [binary('mariadbd'), binary('mariadb-install-db')];

/** Settings are of the server, as `--innodb-flush-log-at-trx-commit=1`. */
export const mariadb = (...settings: readonly string[]): ServerKind => ({
  name: 'MySQL',
  given: 'GANTRY_TEST_MYSQL_URL',
  remedy: 'install mariadb-server on this machine',
  prepare:
    server && installer
      ? async (folder) => {
          const [data, pidFile, port] = [join(folder, 'data'), join(folder, 'pid'), await freePort()];
          const user = process.getuid?.() === 0 ? ['--user=root'] : [];
          const where = ['--no-defaults', `--datadir=${data}`, ...user];
          const how = ['--auth-root-authentication-method=normal', '--skip-test-db'];
          run(installer, [...where, ...how], { cwd: folder });
          const url = `mysql://root@127.0.0.1:${port}/mysql`;
          return {
            url,
            command: [server, ...where, ...settings, ...placed(folder, port, pidFile), ...SMALL],
            pidFile,
            ask: async () => (await createConnection(url)).end(),
          };
        }
      : null,
});

const placed = (folder: string, port: number, pidFile: string): string[] => [
  `--port=${port}`,
  `--socket=${join(folder, 's')}`,
  `--pid-file=${pidFile}`,
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
];

const SMALL = ['--innodb-buffer-pool-size=16M', '--innodb-log-file-size=8M', '--performance-schema=OFF'];

export type FoundMysql = { readonly url: string } | { readonly skip: string };

/** Ends with this process. */
export async function findMysql(): Promise<FoundMysql> {
  const kind = mariadb('--innodb-flush-log-at-trx-commit=0');
  const skip = skipOf(kind);
  return skip === false ? openTest(kind) : { skip };
}
