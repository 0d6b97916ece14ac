import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { LOCAL_RECEIVERS, receiver } from '../../host/src/webhooks/testing/receiver.ts';
import { realHost, type Said } from './testing/real-host.ts';

const HELLO = workflow('hello', [node('a', 'core.noop')]);
const FAILING = workflow('failing', [
  node('b', 'core.fail', {}, { settings: { maxRetries: 1, backoffMs: 0 } }),
]);

type Host = Awaited<ReturnType<typeof realHost>>;

async function ended({ client }: Host, workflowId: string): Promise<string> {
  const { runId } = await client.runs.create({ workflowId });
  await client.runs.wait(runId);
  return runId;
}

function ok(said: Said): string {
  assert.equal(said.code, 0, said.err);
  return said.out;
}

test('webhooks: the secret is printed once and alone; events arrive signed, are listed and sent again', async (t) => {
  const host = await realHost(t, [HELLO], { settings: { egressAllow: LOCAL_RECEIVERS } });
  const target = await receiver(t);
  assert.match(ok(await host.gantry('webhooks')), /^No webhooks yet/);
  const added = await host.gantry('webhooks', 'add', target.url, '--event', 'run.completed');
  const secret = ok(added).trimEnd();
  assert.match(secret, /^[0-9a-f]{64}$/);
  const id = /^Webhook (\S+)\..*It is shown only once: store it now\.\n$/.exec(added.err)?.[1];
  assert.ok(id, added.err);
  const listed = ok(await host.gantry('webhooks', 'ls'));
  assert.match(listed, new RegExp(`\n${id} +active +no +run\\.completed +${target.url}\n`));
  assert.ok(!listed.includes(secret));

  const runId = await ended(host, 'hello');
  const [first] = await target.got(1);
  const timestamp = String(first?.headers['x-openwop-timestamp']);
  const digest = createHmac('sha256', secret).update(`${timestamp}.${first?.body}`).digest('hex');
  assert.ok(String(first?.headers['x-openwop-signature']).includes(digest));
  const { deliveries } = JSON.parse(ok(await host.gantry('webhooks', 'deliveries', id, '--json')));
  assert.equal(deliveries[0].runId, runId);
  const resent = JSON.parse(
    ok(await host.gantry('webhooks', 'resend', id, deliveries[0].deliveryId, '--json')),
  );
  assert.equal(resent.state, 'pending');
  assert.equal((await target.got(2)).length, 2);
  assert.match(ok(await host.gantry('webhooks', 'deliveries', id)), /^DELIVERY +STATE +TRIES/);
  assert.equal(ok(await host.gantry('webhooks', 'resume', id)), `${id} active\n`);
  const rotated = await host.gantry('webhooks', 'rotate-secret', id, '--overlap', '60');
  assert.match(ok(rotated), /^[0-9a-f]{64}\n$/);
  assert.match(rotated.err, /The old one signs too until \d/);
  assert.equal(ok(await host.gantry('webhooks', 'rm', id)), `${id} removed\n`);
  assert.match(ok(await host.gantry('webhooks')), /^No webhooks yet/);
});

test('schedules: added, previewed, paused, resumed, removed', async (t) => {
  const host = await realHost(t, [HELLO], { now: () => Date.UTC(2030, 0, 1) });
  assert.match(ok(await host.gantry('schedules')), /^No schedules yet/);
  const zone = ['--timezone', 'Europe/Berlin'];
  const added = ok(await host.gantry('schedules', 'add', 'hello', '0 9 * * *', ...zone, '-i', 'n=1'));
  const id = /^(\S+) active, next 2030-01-01T08:00:00\.000Z\n$/.exec(added)?.[1] ?? assert.fail(added);
  assert.match(
    ok(await host.gantry('schedules')),
    new RegExp(`${id} +hello +active +0 9 \\* \\* \\* Europe/Berlin`),
  );
  const next = ['2030-01-01T08:00:00.000Z', '2030-01-02T08:00:00.000Z', ''].join('\n');
  assert.equal(ok(await host.gantry('schedules', 'next', id, '--count', '2')), next);
  assert.equal(ok(await host.gantry('schedules', 'next', '0 9 * * *', ...zone, '--count', '2')), next);
  assert.equal(
    ok(await host.gantry('schedules', 'next', '@daily', '--count', '1')),
    '2030-01-02T00:00:00.000Z\n',
  );
  assert.equal(JSON.parse(ok(await host.gantry('schedules', 'show', id))).scheduleId, id);
  assert.match(ok(await host.gantry('heartbeats')), /^No heartbeats yet/);
  assert.match(ok(await host.gantry('schedules', 'pause', id)), /^\S+ paused/);
  assert.match(ok(await host.gantry('schedules', 'resume', id)), /^\S+ active, next /);
  assert.equal(ok(await host.gantry('schedules', 'rm', id)), `${id} removed\n`);
  const once = JSON.parse(ok(await host.gantry('schedules', 'add', 'hello', '--in', '15m', '--json')));
  assert.equal(once.nextFireAt, '2030-01-01T00:15:00.000Z');
  const removed = ok(await host.gantry('schedules', 'rm', once.scheduleId, '--json'));
  assert.deepEqual(JSON.parse(removed), { scheduleId: once.scheduleId, removed: true });
});

test('schedules: what cannot be is said, by us or by the host', async (t) => {
  const host = await realHost(t, [HELLO]);
  const cases: [string[], RegExp][] = [
    [['add', 'hello'], /Give exactly one time/],
    [['add', 'hello', '* * * * *', '--in', '5m'], /Give exactly one time/],
    [['add', 'hello', '--in', 'soon'], /30s, 15m, 2h or 3d, not "soon"/],
    [['add', 'hello', '* * * * *', '--missed', 'skp'], /no policy "skp"\. Did you mean skip\?/],
    [['add', 'hello', '99 * * * *'], /minute|cron/i],
    [['pause'], /Usage: gantry schedules pause <scheduleId>/],
    [['ls', 'x'], /Unexpected argument "x"/],
    [['lst'], /Unknown action "lst" of gantry schedules\. Did you mean ls\?/],
    [
      ['pause', 'x', '--until', '2030-01-01T00:00:00Z'],
      /schedules pause does not take --until, which is for: add\./,
    ],
    [['--count', '3'], /schedules ls does not take --count, which is for: next\./],
    [['next', 'x', '--timezone', 'Europe/Berlin'], /--timezone is for a cron expression/],
  ];
  for (const [args, message] of cases) {
    const done = await host.gantry('schedules', ...args);
    assert.equal(done.code, 2, args.join(' '));
    assert.match(done.err, message);
  }
});

test('triggers: an event sent with the printed secret starts a run', async (t) => {
  const host = await realHost(t, [HELLO]);
  assert.match(ok(await host.gantry('triggers')), /^No triggers yet/);
  const added = await host.gantry('triggers', 'add', 'hello');
  const secret = ok(added).trimEnd();
  const [, id = '', url = ''] =
    /^Trigger (\S+) takes events at (\S+)\n.*It is shown only once: store it now\.\n$/.exec(added.err) ??
    assert.fail(added.err);
  assert.match(ok(await host.gantry('triggers')), new RegExp(`${id} +webhook +active +hello +- +- +\\S+\n`));
  const shown = ok(await host.gantry('triggers', 'show', id));
  assert.match(shown, new RegExp(`^Starts hello with each event\\.\nSend events to ${url}\n`));
  assert.equal(JSON.parse(ok(await host.gantry('triggers', 'show', id, '--json'))).ingestUrl, url);
  const body = '{"n":1}';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-openwop-timestamp': timestamp,
      'x-openwop-signature': `sha256=${digest}`,
    },
    body,
  });
  assert.equal(response.status, 202, await response.text());
  const listed = ok(await host.gantry('triggers', 'deliveries', id));
  assert.match(listed, /^DELIVERY +STATE +TRIES +RECEIVED +VERIFIED +RUN/);
  assert.match(listed, / yes /);
  assert.equal(ok(await host.gantry('triggers', 'pause', id)), `${id} paused\n`);
  assert.equal(ok(await host.gantry('triggers', 'resume', id)), `${id} active\n`);
  assert.equal(ok(await host.gantry('triggers', 'rm', id)), `${id} removed\n`);
});

test('dead-letters: a run out of retries is listed, tried again as a fork, and taken off', async (t) => {
  const host = await realHost(t, [FAILING]);
  assert.match(ok(await host.gantry('dead-letters')), /^No dead letters/);
  const runId = await ended(host, 'failing');
  const listed = ok(await host.gantry('dead-letters'));
  const id = new RegExp(`^(\\S+) +failing +2 +.* ago +run ${runId} at b `, 'm').exec(listed)?.[1];
  assert.ok(id, listed);
  const retried = ok(await host.gantry('dead-letters', 'retry', id));
  const fork = /^(\S+)\nWatch it: gantry events \S+ --follow\n$/.exec(retried)?.[1] ?? assert.fail(retried);
  assert.equal((await host.client.runs.wait(fork)).sourceRunId, runId);
  const { deadLetters } = await host.client.deadLetters.list();
  for (const { deadLetterId } of deadLetters) {
    assert.equal(ok(await host.gantry('dead-letters', 'rm', deadLetterId)), `${deadLetterId} removed\n`);
  }
  assert.match(ok(await host.gantry('dead-letters')), /^No dead letters/);
});
