/** Values that pack code was given, and then puts into a request itself. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readAllowList } from '@gantry/egress';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type Lifetime, onePerFile } from '../testing/one-per-file.ts';
import {
  onPublicNetwork,
  PUBLIC_ADDRESS,
  publicServer,
  trustPublicServer,
} from '../testing/public-network.ts';

const TYPE = 'vendor.acme.sends';
const ELSEWHERE = 'api.acme.test';
const ACCOUNT = JSON.stringify({ type: 'service_account', secret: 'open sesame' });
const VALUES = {
  mine: ['sk-mine-4Kd8Zt2mQ9', PUBLIC_ADDRESS],
  other: ['sk-other-9Ya5Tn3vKp', ELSEWHERE],
  account: [ACCOUNT, ELSEWHERE],
  // One value for two services, and one password of two databases
  same: ['sk-same-2Bq7Lm4sXd', ELSEWHERE],
  again: ['sk-same-2Bq7Lm4sXd', PUBLIC_ADDRESS],
  ads: ['mysql://app:f5Gh-k9Lm@ads', ELSEWHERE],
  crm: ['mysql://app:f5Gh-k9Lm@crm', PUBLIC_ADDRESS],
  local: ['sk-local-8Rt3Vw9zCn', '127.0.0.1'],
} as const;

async function localServer(t: Lifetime, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '0.0.0.0');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const opened = onePerFile(async (t) => {
  trustPublicServer();
  const seen: string[] = [];
  const origin = await publicServer(t, ({ url }, response) => {
    seen.push(String(url));
    response.end();
  });
  const port = await localServer(t, ({ headers, url }, response) => {
    seen.push(String(headers.host?.split(':')[0]));
    const location = `http://127.0.0.2:${port}/`;
    if (url === '/moved') response.writeHead(307, { location });
    response.end();
  });
  const api = await sharedPackTest(t, {
    settings: { egressAllow: readAllowList('raw-fetch=http://127.0.0.0/8:*') },
  });
  for (const [ref, [value, audience]] of Object.entries(VALUES)) {
    const made = await api.post('/v1/host/gantry/credentials', { ref, value, audiences: [audience] });
    assert.equal(made.statusCode, 201, made.body);
  }
  let installs = 0;
  /** The codes or statuses of the calls that the body makes with `to`, and the values by their refs. */
  const run = async (body: string) => {
    const code = `
      const values = {};
      for (const ref of ${JSON.stringify(Object.keys(VALUES))})
        values[ref] = (await ctx.secrets.resolve({ ref, purpose: 'to test' })).plaintext;
      const got = [];
      const to = (path, init, way = ctx.http.safeFetch, origin = ctx.config.origin) =>
        way(origin + path, init).then(({ status }) => got.push(status), ({ code }) => got.push(code));
      ${body}
      return { got };`;
    const manifest = { peerDependencies: { 'secrets.resolveInPack': 'supported', httpClient: 'supported' } };
    const made = {
      nodes: { [TYPE]: { role: 'side-effect', body: code } },
      manifest,
      requires: ['net.outbound'],
    };
    await api.install({ ...made, version: `1.0.${installs++}` }, '?grant=net.outbound');
    await api.registered(workflow('sends', [node('a', TYPE, { origin, local: `http://127.0.0.1:${port}` })]));
    seen.length = 0;
    const ended = await api.ended(await api.start('sends'));
    const { events } = (await api.get(`/v1/runs/${ended.runId}/events/poll?timeout=1`)).json();
    const decided = (events as RunEventDoc[]).filter(({ type }) => type === 'egress.decided');
    const outputs = ended.outputs as JsonObject | undefined;
    const reasons = decided.map(({ payload }) => [payload.credentialId, payload.destination, payload.reason]);
    return { got: outputs?.got ?? ended, seen, reasons };
  };
  return { run, destination: new URL(origin).host };
});

const PLACES = (ref: string): string => `
  const value = values.${ref};
  const bytes = Buffer.from('<' + value);
  await to('/?q=' + encodeURIComponent(value));
  await to('/' + bytes.toString('hex'));
  await to('/', { headers: { 'x-key': value } });
  await to('/', { headers: { authorization: 'Bearer ' + value } });
  await to('/', { method: 'POST', body: 'key=' + value });
  await to('/', { method: 'POST', body: bytes });
  await to('/', { method: 'POST', body: bytes.toString('base64') });`;

await onPublicNetwork(import.meta, () => {
  test('leave for an audience of their credential only, wherever they stand in the request', async () => {
    const { run, destination } = await opened();
    const denied = await run(PLACES('other'));
    assert.deepEqual([denied.got, denied.seen], [Array(7).fill('credential_forbidden'), []]);
    assert.deepEqual(denied.reasons, Array(7).fill(['other', destination, 'out-of-audience']));
    const allowed = await run(PLACES('mine'));
    assert.deepEqual([allowed.got, allowed.seen.length], [Array(7).fill(200), 7]);
    assert.deepEqual(allowed.reasons, Array(7).fill(['mine', destination, 'ok']));
  });

  test('parts of a value as the whole; other words of it are no secret', async () => {
    const { run } = await opened();
    const { got } = await run(`
      await to('/', { method: 'POST', body: JSON.parse(values.account).secret });
      await to('/', { method: 'POST', body: JSON.parse(values.account).type });`);
    assert.deepEqual(got, ['credential_forbidden', 200]);
  });

  test('a value of two credentials goes to the audiences of both', async () => {
    const { run } = await opened();
    const { got } = await run(`
      await to('/', { headers: { 'x-key': values.same } });
      await to('/', { headers: { 'x-key': values.crm } });
      await to('/', { headers: { 'x-key': values.crm.slice(12, 21) } });
      await to('/', { headers: { 'x-key': values.crm + values.other } });`);
    assert.deepEqual(got, [200, 200, 200, 'credential_forbidden']);
  });

  test('the same for fetch; a redirect elsewhere is not followed', async () => {
    const { run } = await opened();
    const { got, seen } = await run(`
      const local = (path, ref) => to(path, { method: 'POST', body: values[ref] }, fetch, ctx.config.local);
      await local('/', 'other');
      await local('/', 'local');
      await local('/moved', 'local');`);
    assert.deepEqual(got, ['credential_forbidden', 200, 'credential_forbidden']);
    assert.deepEqual(seen, ['127.0.0.1', '127.0.0.1']);
  });
});
