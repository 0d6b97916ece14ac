import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createSchema } from './create-schema.ts';
import { ACTIVE_IN_SCOPE, listSql } from './read/runs.ts';

test('lists and the look for an active run read an index from where they start', () => {
  const database = new DatabaseSync(':memory:');
  createSchema(database, '.');
  const plan = (text: string): string[] =>
    database
      .prepare(`explain query plan ${text}`)
      .all()
      .map(({ detail }) => String(detail));
  const lists = [
    [{}, 'runs_by_status (tenant=? AND status=? AND run_id<?)'],
    [{ status: 'failed' }, 'runs_by_status (tenant=? AND status=? AND run_id<?)'],
    [
      { workflowId: 'w' },
      'runs_by_workflow_and_status (tenant=? AND workflow_id=? AND status=? AND run_id<?)',
    ],
    [
      { workflowId: 'w', status: 'failed' },
      'runs_by_workflow_and_status (tenant=? AND workflow_id=? AND status=? AND run_id<?)',
    ],
  ] as const;
  for (const [filter, search] of lists) {
    const steps = plan(listSql(filter));
    const reads = steps.filter((step) => / runs /.test(step));
    assert.deepEqual(new Set(reads), new Set([`SEARCH runs USING INDEX ${search}`]));
    // The parts of a large text are few
    assert.ok(!steps.some((step) => /TEMP B-TREE (?!FOR group_concat)/.test(step)), steps.join('\n'));
  }
  assert.match(
    plan(ACTIVE_IN_SCOPE)[0]!,
    /^SEARCH runs USING (COVERING )?INDEX runs_active_by_scope \(tenant=\? AND scope_id=\?\)$/,
  );
  database.close();
});
