import assert from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import * as make from '../contract/fixtures.ts';
import type { RunFilter } from '../port.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';
import { activeInScopeQuery, listQuery } from './read/runs.ts';
import { connect } from './sql.ts';

const database = await freshDatabase();

test('lists and the look for an active run read an index from where they start', {
  skip: 'skip' in database && database.skip,
}, async (t) => {
  if ('skip' in database) return;
  const store = await openPostgres(database);
  const sql = connect({ url: database.url, statementTimeoutMs: 15_000 });
  t.after(async () => {
    await sql.end();
    await store.close();
    await database.drop();
  });
  // One run in a thousand failed; one in fifty is of a small tenant; most have ended.
  await sql`
      insert into runs (run_id, tenant, workflow_id, workflow_hash, scope_id, created_at, request, status, ended_at, next_seq)
      select 'run-' || lpad(n::text, 8, '0'), case when n % 50 = 7 then 'small' else 't' end, 'w' || n % 50, 'h', 's' || n, 0, '{}',
        case when n % 1000 = 0 then 'failed' else 'completed' end, case when n % 10 = 0 then null else 1 end, 1
      from generate_series(1, 20000) n
    `;
  await sql`analyze runs`;
  const plan = async (query: ReturnType<typeof listQuery> | ReturnType<typeof activeInScopeQuery>) => {
    const rows = await sql`explain ${query}`;
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  const listed = (filter: Partial<RunFilter>, tenant = 't') =>
    plan(listQuery(sql, tenant, { limit: 20, beforeRunId: 'run-00015000', ...filter }));
  const plans = [
    [await listed({}, 'small'), 'runs_by_status'],
    [await listed({ status: 'failed' }), 'runs_by_status'],
    [await listed({ status: 'waiting-approval' }), 'runs_by_status'],
    [await listed({ workflowId: 'w8' }), 'runs_by_workflow_and_status'],
    [await listed({ workflowId: 'w8', status: 'failed' }), 'runs_by_workflow_and_status'],
    [await plan(activeInScopeQuery(sql, 't', 's77')), 'runs_active_by_scope'],
  ] as const;
  for (const [text, index] of plans) {
    const scans = text.split('->').filter((step) => / on runs/.test(step));
    // Of a status that has no runs any index will do
    const large = scans.filter((step) => !step.includes('rows=1 ') || scans.length === 1);
    assert.ok(large.length > 0, text);
    for (const scan of large) {
      assert.match(scan, new RegExp(`Index (Only )?Scan( Backward)? using ${index} `), text);
      assert.doesNotMatch(scan, /Filter/, text);
    }
    assert.doesNotMatch(text, /Sort +\(/, text);
  }
});

test('commits read no table as a whole, also with plans from when it was small', {
  skip: 'skip' in database && database.skip,
}, async (t) => {
  const grown = await freshDatabase();
  assert.ok('url' in grown);
  const store = await openPostgres(grown);
  const sql = postgres(grown.url, { max: 1 });
  t.after(async () => {
    await sql.end();
    await grown.drop();
  });
  /** One of each kind of write that compares with what is stored. */
  const round = async (id: string): Promise<void> => {
    await make.win(store, make.create(id), make.putEntry(id, null), make.idempotency(id, { expiresAt: 1 }));
    await make.win(store, make.append(id, 1), make.putEntry(id, 1), make.claimInvocation(id));
    await make.win(store, make.settleInvocation(id), make.deleteEntry(id, 2), make.idempotency(id));
  };
  for (let i = 0; i < 8; i++) await round(`small-${i}`);
  await sql`
    insert into runs (run_id, tenant, workflow_id, workflow_hash, created_at, request, status, next_seq)
    select 'run-' || n, 't', 'w', 'h', 0, '{}', 'completed', 1 from generate_series(1, 5000) n
  `;
  await sql`
    insert into entries (kind, tenant, id, version, created_at, body)
    select 'mail', 't', 'e-' || n, 1, 0, '{}' from generate_series(1, 5000) n
  `;
  await sql`
    insert into idempotency (tenant, operation, key, digest, status, body, expires_at)
    select 't', 'o', 'k-' || n, 'd', 200, '{}', 0 from generate_series(1, 5000) n
  `;
  await sql`
    insert into invocations (tenant, invocation_id, run_id, node_id, claimed_at, events_pending)
    select 't', 'i-' || n, 'r', 'n', 0, false from generate_series(1, 5000) n
  `;
  for (let i = 0; i < 8; i++) await round(`large-${i}`);
  await store.close();
  // What a session has read is counted at the latest when it is over.
  const others = () => sql`
    select 1 from pg_stat_activity where datname = current_database() and application_name = 'gantry'
  `;
  while ((await others()).length > 0);
  const scanned = await sql`
    select relname, seq_tup_read::int as rows from pg_stat_user_tables where seq_tup_read > 1000
  `;
  assert.deepEqual([...scanned], []);
});
