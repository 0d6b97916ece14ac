/** What is derived, on a real registry: it follows what is published, withdrawn and taken back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { type Acme, acmeRegistry } from '../testing/acme.ts';

const get = async (acme: Acme, url: string) => {
  const answer = await acme.request({ url }, '');
  assert.equal(answer.statusCode, 200, `${url}: ${answer.body}`);
  return answer.json();
};
const statusOf = async (acme: Acme, url: string): Promise<number> =>
  (await acme.request({ url }, '')).statusCode;

const yank = async (acme: Acme, version: string) => {
  const url = `/v1/packs/vendor.acme.tools/-/${version}/yank`;
  const answer = await acme.request({ method: 'POST', url, payload: { reason: 'It leaks.' } }, acme.apiKey);
  assert.ok(answer.statusCode < 300, answer.body);
};

test('discovery knows the claim and its key', async (t) => {
  const acme = await acmeRegistry(t);
  const document = await get(acme, '/.well-known/openwop-registry');
  assert.equal(document.url, 'https://packs.example.org');
  assert.deepEqual(document.signingKeys[0].permittedNamespaces, ['vendor.acme.*']);
  assert.equal(document.namespaceAssignments[0].signingKeyId, 'acme-1');
  const key = await acme.request({ url: document.signingKeys[0].publicKeyUrl }, '');
  assert.match(key.body, /BEGIN PUBLIC KEY/);
});

test('what is published appears everywhere; what is withdrawn leaves the mirror and keeps its bill', async (t) => {
  const acme = await acmeRegistry(t);
  assert.equal((await get(acme, '/v1/index.json')).packCount, 0);
  await acme.publish();
  await acme.publish({ manifest: { version: '1.1.0' } });
  const [entry] = (await get(acme, '/v1/index.json')).packs;
  assert.deepEqual([entry.name, entry.latestVersion, entry.yanked], ['vendor.acme.tools', '1.1.0', false]);
  assert.equal((await get(acme, '/v1/packs')).packs[0].versionCount, 2);
  assert.equal((await get(acme, '/v1/packs/-/search?q=echo')).total, 1);
  assert.equal((await get(acme, '/v1/packs/-/by-type/vendor.acme.tools.echo')).packs[0].latest, '1.1.0');
  assert.equal((await get(acme, '/v1/sbom.json')).components.length, 2);
  assert.deepEqual(await get(acme, '/vendor.acme.tools/1.1.0/echo.input.json'), { type: 'object' });

  await yank(acme, '1.1.0');
  assert.equal((await get(acme, '/v1/index.json')).packs[0].latestVersion, '1.0.0');
  assert.equal(await statusOf(acme, '/vendor.acme.tools/1.1.0/echo.input.json'), 404);
  assert.equal(await statusOf(acme, '/v1/packs/vendor.acme.tools/-/1.1.0.sbom.json'), 200);
  assert.equal(await statusOf(acme, '/packs/vendor.acme.tools/1.1.0'), 200);
});

test('the test namespace appears in none of it', async (t) => {
  const acme = await acmeRegistry(t);
  assert.equal((await acme.publish({}, { namespace: 'packs-test' })).statusCode, 201);
  assert.deepEqual((await get(acme, '/v1/packs')).packs, []);
  assert.equal((await get(acme, '/v1/packs/-/search?q=acme')).total, 0);
  assert.equal((await get(acme, '/v1/index.json')).packCount, 0);
  assert.equal(await statusOf(acme, '/packs/vendor.acme.tools'), 404);
  assert.equal(await statusOf(acme, '/vendor.acme.tools/1.0.0/echo.input.json'), 404);
});

test('an advisory follows the yank, and only the operator publishes it', async (t) => {
  const acme = await acmeRegistry(t);
  await acme.publish();
  const advisory = {
    id: 'OPENWOP-2026-0007',
    publishedAt: '2026-06-01',
    severity: 'critical',
    summary: 'Echoes secrets.',
    details: 'Whatever it hears, it says.',
    advisoryUrl: 'https://acme.example/advisories/7',
    cveIds: ['CVE-2026-12345'],
    credits: [{ name: 'A reader', role: 'finder' }],
    affected: [{ packName: 'vendor.acme.tools', versions: '<=1.0.0', fixedIn: '1.0.1' }],
  };
  const url = `/v1/host/gantry/registry/advisories/${advisory.id}`;
  const put = (key?: string) => acme.request({ method: 'PUT', url, payload: advisory }, key);
  assert.deepEqual((await put()).json().details.notYanked, ['vendor.acme.tools@1.0.0']);
  await yank(acme, '1.0.0');
  assert.equal((await put(acme.apiKey)).statusCode, 403);
  assert.equal((await put()).statusCode, 201);
  const feed = await get(acme, '/security/advisories.json');
  assert.deepEqual(feed.advisories, [advisory]);
  const problems = publicValidator('security-advisory.schema.json');
  assert.deepEqual(problems?.(feed.advisories[0]) ?? [], []);
});

test('agents that are exported are manifests as the protocol defines them', async (t) => {
  const acme = await acmeRegistry(t);
  const agent = {
    agentId: 'vendor.acme.tools.helper',
    persona: 'Helper',
    modelClass: 'general',
    systemPrompt: 'Help.',
    toolAllowlist: [],
  };
  assert.equal((await acme.publish({ manifest: { agents: [agent] } })).statusCode, 201);
  const { manifests } = await get(acme, '/v1/packs/export');
  assert.deepEqual(manifests, [agent]);
  assert.deepEqual(publicValidator('agent-manifest.schema.json')?.(manifests[0]) ?? [], []);
});
