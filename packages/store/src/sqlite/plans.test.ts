import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createSchema } from './create-schema.ts';
import { ACTIVE_IN_SCOPE, listSql } from './read/runs.ts';

test('lists and the look for an active run read an index from where they start', () => {
  const database = new DatabaseSync(':memory:');
  createSchema(database, '.');
  const plan = (text: string): string =>
    String(database.prepare(`explain query plan ${text}`).all()[0]?.detail);
  const search = (index: string, terms: string) => `SEARCH runs USING INDEX ${index} (${terms})`;
  assert.equal(plan(listSql({})), search('runs_by_tenant', 'tenant=? AND run_id<?'));
  assert.equal(
    plan(listSql({ status: 'failed' })),
    search('runs_by_status', 'tenant=? AND status=? AND run_id<?'),
  );
  assert.equal(
    plan(listSql({ workflowId: 'w' })),
    search('runs_by_workflow', 'tenant=? AND workflow_id=? AND run_id<?'),
  );
  assert.equal(
    plan(listSql({ workflowId: 'w', status: 'failed' })),
    search('runs_by_workflow_and_status', 'tenant=? AND workflow_id=? AND status=? AND run_id<?'),
  );
  assert.match(
    plan(ACTIVE_IN_SCOPE),
    /^SEARCH runs USING (COVERING )?INDEX runs_active_by_scope \(tenant=\? AND scope_id=\?\)$/,
  );
  database.close();
});
