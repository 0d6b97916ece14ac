/** Schedules and triggers that start no runs: what registration, `doctor` and `dead-letters` say about them. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WorkflowDefinition } from '@gantry/protocol';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { temporaryFolder } from '../../host/src/testing/host-process.ts';
import { realHost } from './testing/real-host.ts';

const NEEDY: WorkflowDefinition = workflow('report', [node('a', 'core.noop')], {
  version: '2.0.0',
  variables: [{ name: 'days', type: 'number', required: true }],
});

test('check refuses a schedule trigger without a required input', async (t) => {
  const host = await realHost(t, []);
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const file = join(folder.path, 'report.json');
  const triggers = [{ id: 'clock', type: 'schedule', enabled: true, config: { cron: '0 9 * * *' } }];
  await writeFile(file, JSON.stringify({ ...NEEDY, triggers }));
  const { code, out, err } = await host.gantry('workflows', 'check', file);
  assert.notEqual(code, 0);
  assert.match(`${out}${err}`, /\/triggers\/0\/config\/inputs\/days.*days is required/s);
});

test('doctor names a schedule whose ticks start no run, and how to fire it when it is mended', async (t) => {
  const clock = { at: Date.parse('2027-01-01T00:00:30Z') };
  const first = workflow('report', [node('a', 'core.noop')]);
  const host = await realHost(t, [first], { now: () => clock.at });
  const { scheduleId } = await host.client.schedules.create({ workflowId: 'report', cron: '0 * * * *' });
  assert.ok(!(await host.gantry('doctor')).out.includes('schedule'));
  await host.client.workflows.register(NEEDY);
  for (let hour = 0; hour < 2; hour++) {
    clock.at += 3_600_000;
    await host.services.schedules.tick();
  }
  const { out } = await host.gantry('doctor');
  assert.match(
    out,
    new RegExp(`fail {2}schedule {3}${scheduleId} of report: the last 2 ticks started no run\\..*days is`),
  );
  const explained = await host.gantry('explain', scheduleId);
  assert.match(
    explained.out,
    new RegExp(`^${scheduleId} of report: the last 2 ticks started no run\\..*days is`),
  );
  assert.match(explained.out, /gantry dead-letters retry/);
  assert.equal((await host.gantry('explain', 'sch_unknown')).code, 2);
  const retry = /gantry dead-letters retry (\S+)/.exec(out);
  assert.ok(retry, out);
  assert.match(
    (await host.gantry('dead-letters')).out,
    new RegExp(`schedule ${scheduleId}.*validation_error`),
  );
  await host.client.workflows.register({ ...first, version: '3.0.0' });
  assert.equal((await host.gantry('dead-letters', 'retry', retry[1]!)).code, 0);
  clock.at += 1;
  await host.services.schedules.tick();
  assert.equal((await host.client.runs.list({})).runs.length, 1);
  assert.ok(!(await host.gantry('doctor')).out.includes('started no run'));
  assert.match(
    (await host.gantry('explain', scheduleId)).out,
    /of report is active: the last tick started run_/,
  );
});

test('doctor names a trigger whose workflow was replaced by a key with fewer rights', async (t) => {
  const first = workflow('report', [node('a', 'core.noop')]);
  const host = await realHost(t, [first]);
  const { subscription } = await host.client.triggers.register({ workflowId: 'report', source: 'webhook' });
  const { key } = await host.client.keys.create({ name: 'author', scopes: ['workflows:write'] });
  await host.clientOf(key).workflows.register({ ...first, version: '2.0.0' });
  const { out } = await host.gantry('doctor');
  const { subscriptionId } = subscription;
  assert.match(
    out,
    new RegExp(`fail {2}trigger +${subscriptionId} of report starts no runs\\. Version 2\\.0\\.0`),
  );
  assert.match(
    (await host.gantry('explain', subscriptionId)).out,
    /of report starts no runs\. Version 2\.0\.0/,
  );
  const { out: shown } = await host.gantry('triggers', 'show', subscriptionId);
  assert.match(shown, /Problem: Version 2\.0\.0 of report was registered by a key without .*host:admin/);
});
