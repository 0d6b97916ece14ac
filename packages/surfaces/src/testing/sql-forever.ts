/** A process that adds to one counter in a SQL data source, many times at once, and says which calls were answered. */
import { statementOf } from '../capabilities/sql/template.ts';
import { SQL_LIMITS } from '../ports/sql.ts';
import { SqlitePool, tenantFiles } from '../sql-drivers/sqlite.ts';
import { read, write } from './calls.ts';

const LANES = 3;
const [dataDir = '', first = '0', mode = 'add'] = process.argv.slice(2);
const limits = { ...SQL_LIMITS, timeoutMs: 60_000 };
const options = { dataDir, limits, bytesMax: 10_000_000, invocationRetentionMs: 3_600_000 };
const backend = tenantFiles(new SqlitePool(), options);
const query = (sql: string) =>
  backend.query(statementOf({ sql, params: [] }, 'query', 'sqlite'), read('acme'));
let next = Number(first);

const add = statementOf({ sql: 'update counter set n = n + ?', params: [1] }, 'execute', 'sqlite');

async function lane(): Promise<never> {
  for (;;) {
    const id = next++;
    await backend.execute([add], write('acme', { id: `call-${id}` }));
    // A reader that is slow fills the pipe; what waits here then would be lost with the process
    await new Promise((done) => process.stdout.write(`${id}\n`, done));
  }
}

if (mode === 'add') await Promise.all(Array.from({ length: LANES }, lane));
else {
  const endless = query(
    'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c',
  );
  // Answered by another process while the first is inside its query
  await query('select 1 as one');
  process.stdout.write('busy\n');
  await endless;
}
