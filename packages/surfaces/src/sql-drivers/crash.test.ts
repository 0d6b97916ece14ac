import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { surfaceCrashContract } from '../ports/surface-crash-contract.ts';
import { findCrashMysql, findCrashPostgres } from '../testing/crash-servers.ts';

const datasource =
  (driver: 'mysql' | 'postgres') =>
  (url: string, folder: string): { readonly datasources: string } => {
    const file = join(folder, 'datasources.json');
    writeFileSync(file, JSON.stringify({ datasources: [{ id: 'primary', driver, url, tenants: '*' }] }));
    return { datasources: file };
  };

surfaceCrashContract('PostgreSQL as a data source', await findCrashPostgres(), {
  works: ['sql'],
  settingsOf: datasource('postgres'),
});

surfaceCrashContract('MariaDB as a data source', findCrashMysql(), {
  works: ['sql'],
  settingsOf: datasource('mysql'),
});
