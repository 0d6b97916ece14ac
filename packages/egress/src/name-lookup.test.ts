/** Names are asked for without threads, by tenant, and answered only as the policy has it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createEgress } from './egress.ts';
import { nameLookup } from './name-lookup.ts';
import { PUBLIC_POLICY } from './policy.ts';
import { failsWith, LOOPBACK_POLICY } from './testing/egress.ts';
import { nameServer } from './testing/name-server.ts';

const PUBLIC = '93.184.215.14';

test('slow names of one tenant hold up no other, and few of them are asked for at once', async (t) => {
  const server = await nameServer(t, { 'quick.example': PUBLIC });
  const egress = createEgress({ policy: PUBLIC_POLICY, dnsServers: [server.address] });
  const controller = new AbortController();
  const slow = Array.from({ length: 40 }, (_, n) =>
    failsWith(egress.addresses(`n${n}.slow.example`, { tenant: 'a', signal: controller.signal }), 'aborted'),
  );
  const quick = Array.from({ length: 10 }, () => egress.addresses('quick.example', { tenant: 'b' }));
  assert.deepEqual(await Promise.all(quick), Array(10).fill([PUBLIC]));
  assert.ok(server.asked.size <= 1 + 4, [...server.asked].join());
  controller.abort();
  await Promise.all(slow);
  assert.deepEqual(await egress.addresses('quick.example', { tenant: 'a' }), [PUBLIC]);
});

test('addresses are told only where they may be called', async (t) => {
  const names = { 'quick.example': PUBLIC, 'inside.example': '10.1.2.3', 'me.example': '127.0.0.1' };
  const { address } = await nameServer(t, names);
  const egress = createEgress({ policy: PUBLIC_POLICY, dnsServers: [address] });
  assert.deepEqual(await egress.addresses('Quick.Example.'), [PUBLIC]);
  assert.deepEqual(await egress.addresses(PUBLIC), [PUBLIC]);
  for (const name of ['inside.example', 'me.example', '10.0.0.1', '169.254.169.254', '::1'])
    await failsWith(egress.addresses(name), 'address_not_allowed');
  for (const name of ['localhost', 'db', 'redis.internal', 'metadata.google.internal'])
    await failsWith(egress.addresses(name), 'host_not_allowed');
  await failsWith(egress.addresses('no such name'), 'url_invalid');
  const { code } = await failsWith(egress.addresses('unknown.example'), 'resolve_failed');
  assert.equal(code, 'ENOTFOUND');
});

test('the hosts file comes first, and is under the same policy', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-hosts-'));
  t.after(() => rm(folder, { recursive: true }));
  const hostsFile = path.join(folder, 'hosts');
  await writeFile(hostsFile, `# names\n${PUBLIC}\tMirror.example other # ours\n10.0.0.9 inside.example\n`);
  const { address, asked } = await nameServer(t, { 'quick.example': PUBLIC });
  const lookup = nameLookup({ hostsFile, servers: [address] });
  const egress = createEgress({ policy: PUBLIC_POLICY, lookup });
  assert.deepEqual(await egress.addresses('mirror.example'), [PUBLIC]);
  await failsWith(egress.addresses('inside.example'), 'address_not_allowed');
  assert.deepEqual([...asked], []);
  const local = createEgress({ policy: LOOPBACK_POLICY, lookup });
  assert.deepEqual(await local.addresses('localhost'), ['127.0.0.1', '::1']);
});
