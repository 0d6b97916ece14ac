/** Private packs of a registry, as the commands read them. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import {
  type RegistryProcess,
  startRegistryProcess,
} from '../../../../registry/src/testing/registry-process.ts';
import { ADMIN_KEY, temporaryFolder } from '../../../../registry/src/testing/test-registry.ts';
import { type Workspace, workspaceFor } from './testing/registry-test.ts';

const NAME = 'private.acme.greeter';
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: RegistryProcess;

before(async () => {
  folder = await temporaryFolder();
  server = await startRegistryProcess(folder.path, { GANTRY_REGISTRY_PRIVATE: '1' });
});
after(async () => {
  await server.stop();
  await folder.remove();
});

/** With a workflow that asks for a pack. */
async function here(t: TestContext, env: Readonly<Record<string, string>>, name = NAME): Promise<Workspace> {
  const workspace = await workspaceFor(t, { GANTRY_REGISTRY_URL: server.url, ...env });
  const folder = path.join(workspace.root, 'workflows');
  await mkdir(folder);
  await writeFile(path.join(folder, 'greet.json'), JSON.stringify({ id: 'greet', packs: { [name]: {} } }));
  return workspace;
}

async function does({ gantry }: Workspace, ...args: string[]): Promise<string> {
  const { code, out, err } = await gantry(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}`);
  return out;
}

test('a private pack is published, locked and mirrored with its key, and not found without', async (t) => {
  const owner = await here(t, { GANTRY_REGISTRY_KEY: ADMIN_KEY });
  await does(owner, 'pack', 'new', NAME, '--out', 'pack');
  await does(owner, 'pack', 'keygen', 'acme-1');
  await does(owner, 'registry', 'claim', 'private.acme.*', '--public-key', 'acme-1.pub');
  await does(owner, 'pack', 'publish', 'pack', '--signing-key', 'acme-1.pem');
  assert.match(await does(owner, 'registry', 'keys', 'ls'), /acme-1 .*private\.acme\.\*/);
  assert.match(await does(owner, 'pack', 'lock'), /^\+ private\.acme\.greeter 0\.1\.0/);
  assert.match(await does(owner, 'registry', 'mirror', server.url, './mirror'), /^1 versions of 1 packs/);

  const stranger = await here(t, {});
  assert.match(await does(stranger, 'registry', 'keys', 'ls'), /^No keys yet/);
  assert.match((await stranger.gantry('pack', 'lock')).err, /No version of private\.acme\.greeter/);
  const mirrored = await does(stranger, 'registry', 'mirror', server.url, './mirror');
  assert.match(mirrored, /^0 versions of 0 packs/);
  const wrong = await here(t, { GANTRY_REGISTRY_KEY: 'gk_wrong' });
  assert.match((await wrong.gantry('pack', 'lock')).err, /refuses the key\. Check GANTRY_REGISTRY_KEY/);
});

test('the key goes to the registry that was named first, not to fallbacks or sources of mirrors', async (t) => {
  const seen: (string | undefined)[] = [];
  const other = createServer(({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => other.close().closeAllConnections());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const owner = await here(t, { GANTRY_REGISTRY_KEY: ADMIN_KEY }, 'vendor.acme.absent');
  await owner.gantry('registry', 'mirror', url, './mirror');
  const copied = seen.length;
  await owner.gantry('pack', 'lock', '--registry', `${server.url},${url}`);
  assert.ok(copied > 0 && seen.length > copied);
  assert.deepEqual(new Set(seen), new Set([undefined]));
  await owner.gantry('registry', 'mirror', url, './mirror', '--key', 'gk_theirs');
  assert.equal(seen.at(-1), 'Bearer gk_theirs');
});
