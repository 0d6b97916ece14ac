import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAllowList } from '@gantry/egress';
import { mailReceiver, webReceiver } from '../../host/src/messaging/testing/receivers.ts';
import { realHost } from './testing/real-host.ts';

test('connectors: added, checked, listed and removed, and the doctor looks at each', async (t) => {
  const { url, got } = await webReceiver(t);
  const mail = await mailReceiver(t);
  const egressAllow = readAllowList(
    `connector=http://127.0.0.1:${new URL(url).port},connector=smtp://127.0.0.1:${mail.port}`,
  );
  const host = await realHost(t, [], { settings: { egressAllow } });
  const gantry = async (...args: string[]) => host.gantry('connectors', ...args);
  assert.match((await gantry()).out, /^No connectors yet/);

  const secret = `${url}/services/CANARY`;
  const audience = ['--audience', '127.0.0.1'];
  await host.piping(secret, 'credentials', 'add', 'hook', ...audience);
  const slack = ['--type', 'slack', '--credential', 'hook', '--rate', '1/1'];
  assert.match(
    (await gantry('add', 'ops', ...slack)).out,
    /^ops added\. Check it: gantry connectors check ops/,
  );
  const relay = ['--type', 'smtp', '--to', mail.url, '--from', 'ops@example.com', '--tls', 'none'];
  const relayed = await gantry('add', 'relay', ...relay);
  assert.equal(relayed.code, 0, relayed.err);

  const listed = await gantry();
  assert.match(listed.out, /ops +active +slack +slack +1\/1 +hook/);
  assert.match(listed.out, /relay +active +smtp +email +smtp:\/\/127\.0\.0\.1/);
  assert.match((await gantry('check', 'relay')).out, /^ok 127\.0\.0\.1:\d+ answers/);
  const doctor = await host.gantry('doctor');
  assert.match(doctor.out, /ok +connectors ops \(slack\): 127\.0\.0\.1:\d+ answers/);
  await host.gantry('credentials', 'revoke', 'hook');
  const ill = await host.gantry('doctor');
  assert.equal((await gantry('check', 'ops')).code, 1);
  assert.match(ill.out, /fail +connectors ops \(slack\): .*\n +Next: gantry credentials add hook/);
  for (const { out, err } of [listed, doctor, ill]) assert.doesNotMatch(out + err, /CANARY/);

  assert.match((await gantry('deliveries', 'ops')).out, /^No messages match/);
  assert.match((await gantry('add', 'x', '--type', 'fax')).err, /no type "fax"/);
  assert.match(
    (await gantry('add', 'x', '--type', 'http', '--rate', 'often')).err,
    /--rate takes MESSAGES\/SECONDS/,
  );
  assert.equal((await gantry('rm', 'ops')).out, 'ops removed\n');
  assert.deepEqual([got.length, mail.got.length], [0, 0], 'nothing was sent');
});
