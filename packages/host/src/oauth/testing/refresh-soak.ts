/**
 * Two processes on PostgreSQL, 100 nodes at once that sign in, tokens of five seconds that rotate: one refresh each time, no
 * grant lost. Then one process is killed: the other goes on, or says that the person has to authorize again.
 * `npm run soak -- refresh`.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, createClient } from '@gantry/client';
import type { RunSnapshot } from '@gantry/protocol';
import { freshDatabase } from '../../../../store/src/testing/postgres-server.ts';
import { declaredArchive } from '../../packs/connections/testing/declared-archive.ts';
import { packArchive } from '../../packs/testing/pack-archive.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from '../../testing/host-process.ts';
import { acmeProvider, Browser, hrefIn, PUBLIC_URL, redirectUri } from './oauth-test.ts';
import { CLIENT, type ProviderServer, providerServer } from './provider-server.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 3);
const NODES = 100;
const TOKEN_SECONDS = 5;
const TYPE = 'vendor.acme.call';
const signsIn = {
  role: 'pure',
  body: 'return { length: ctx.credentials.acme.value.length };',
  more: { auth: { type: 'oauth2', provider: 'acme', scopes: ['entries.read'] } },
};

interface Process {
  readonly host: HostProcess;
  readonly client: Client;
}

async function cluster(t: TestContext, provider: ProviderServer): Promise<[Process, Process] | null> {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return null;
  }
  const folder = await temporaryFolder();
  const hosts: HostProcess[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((host) => host.kill()));
    await database.drop();
    await folder.remove();
  });
  const start = async (name: string): Promise<Process> => {
    const host = await startHostProcess({
      dataDir: path.join(folder.path, name),
      workflowsDir: path.join(folder.path, 'workflows'),
      env: {
        GANTRY_DATABASE_URL: database.url,
        GANTRY_MASTER_KEY: 'one-key-for-every-process-of-this-database',
        GANTRY_PUBLIC_URL: PUBLIC_URL,
        GANTRY_EGRESS_ALLOW: `oauth=${provider.origin}`,
      },
    });
    hosts.push(host);
    return { host, client: createClient({ baseUrl: host.url, apiKey: TEST_KEY }) };
  };
  return [await start('a'), await start('b')];
}

const upload = async ({ host }: Process, body: Buffer): Promise<void> => {
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/gzip' };
  const answer = await fetch(`${host.url}/v1/host/gantry/packs`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
  assert.equal(answer.status, 201, await answer.text());
};

async function connect({ host, client }: Process): Promise<string> {
  const { authorizeUrl = '' } = await client.connections.connect({ provider: 'acme' });
  const browser = new Browser();
  const page = async (url: string, method = 'GET'): Promise<string> => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const headers = { ...browser.headers(PUBLIC_URL), ...(method === 'POST' && type) };
    const answer = await fetch(url.replace(PUBLIC_URL, host.url), { method, headers });
    browser.keep(PUBLIC_URL, answer.headers.getSetCookie());
    return answer.text();
  };
  await page(authorizeUrl);
  const done = await page(await browser.follow(hrefIn(await page(authorizeUrl, 'POST')), PUBLIC_URL));
  return /conn_[0-9a-f]+/.exec(done)?.[0] ?? assert.fail(done);
}

async function prepare(
  first: Process,
  { authorizeUrl, tokenUrl, origin: issuer }: ProviderServer,
): Promise<string> {
  await upload(
    first,
    await declaredArchive({ name: 'vendor.acme.connection', kind: 'connection', provider: acmeProvider() }),
  );
  await first.client.connections.configure({ provider: 'acme', ...CLIENT, authorizeUrl, tokenUrl, issuer });
  await upload(first, (await packArchive({ nodes: { [TYPE]: signsIn } })).bytes);
  const nodes = Array.from({ length: NODES / 2 }, (_, i) => node(`n${i}`, TYPE));
  await first.client.workflows.register(workflow('many', nodes, { edges: [] }));
  return connect(first);
}

/** Half of the nodes in each process. */
const round = (processes: readonly Process[]): Promise<RunSnapshot>[] =>
  processes.map(async ({ client }) => {
    const { runId } = await client.runs.create({ workflowId: 'many' });
    await client.runs.wait(runId);
    return client.runs.get(runId);
  });

/** How often its token was replaced. */
async function versionOf({ client }: Process, connectionId: string): Promise<number> {
  return (await client.credentials.get(connectionId)).versions[0]?.version ?? 0;
}

test('one refresh each time, and no grant is lost', async (t) => {
  const provider = await providerServer(t, {
    redirectUris: [redirectUri('acme')],
    tokenSeconds: TOKEN_SECONDS,
  });
  const processes = await cluster(t, provider);
  if (!processes) return;
  const [first, second] = processes;
  const connectionId = await prepare(first, provider);
  for (let n = 1; n <= ROUNDS; n++) {
    for (const { status, error } of await Promise.all(round(processes)))
      assert.equal(status, 'completed', JSON.stringify(error));
    // Each refresh that the provider gave is a version, and it refused none
    assert.equal(provider.asked.refresh_token ?? 0, (await versionOf(first, connectionId)) - 1);
    assert.equal(provider.refused, 0);
  }
  t.diagnostic(`${ROUNDS * NODES} nodes, ${provider.asked.refresh_token} refreshes, none refused`);
  const running = round(processes);
  await second.host.kill();
  const [survivor] = await Promise.allSettled(running);
  assert.ok(survivor?.status === 'fulfilled');
  if (survivor.value.status !== 'completed') {
    assert.equal(survivor.value.error?.code, 'connector_auth_expired');
    assert.match(survivor.value.error.message, /gantry connections connect acme/);
    await connect(first);
  }
  t.diagnostic(`after the kill: ${survivor.value.status}`);
  const [last] = await Promise.all(round([first]));
  assert.equal(last?.status, 'completed', JSON.stringify(last?.error));
});
