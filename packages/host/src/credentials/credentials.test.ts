/** Credentials of a whole host: what goes in over HTTP, who may use it, and that no answer has a value. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { OpenwopError, type Owner, ownerOf } from '@gantry/protocol';
import { type ApiTest, apiTest, assertError } from '../api/testing/api-test.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { onePerFile } from '../testing/one-per-file.ts';

const URL = '/v1/host/gantry/credentials';
const VALUE = 'sk_live_CANARY_4f1c8a2e9b';
const START = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;

let now = START;

interface CredentialHost extends ApiTest {
  /** A request with a key of this tenant that is another principal. */
  as(
    tenant: string,
  ): Promise<(method: 'GET' | 'POST' | 'DELETE', url: string, body?: object) => Promise<Answer>>;
  readonly secretsDir: string;
}
type Answer = Awaited<ReturnType<ApiTest['get']>>;

const credentialHost = onePerFile(async (t): Promise<CredentialHost> => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const settings = {
    secretsDir: folder.path,
    secretVariables: [{ tenant: 'default', name: 'CRM_TOKEN', value: 'from-the-environment' }],
  };
  const api = await apiTest(t, { settings, now: () => now });
  return {
    ...api,
    secretsDir: folder.path,
    async as(tenant) {
      const made = await api.post('/v1/host/gantry/keys', {
        name: 'n',
        scopes: ['credentials:manage'],
        tenant,
      });
      const headers = { authorization: `Bearer ${made.json().key}` };
      return (method, url, body) =>
        api.request({
          method,
          url,
          headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { payload: JSON.stringify(body) }),
        });
    },
  };
});

const me: Owner = ownerOf({ tenant: 'default', principal: 'somebody' });

const opened = (host: CredentialHost, ref: string, owner = me, runId?: string) =>
  host.host.services.credentials.open(owner, ref, runId === undefined ? {} : { runId });

const fails = async (work: Promise<unknown>, code: string): Promise<void> => {
  const error = await work.then(
    () => assert.fail(`should fail with ${code}`),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof OpenwopError, `${error}`);
  assert.equal(error.code, code);
};

test('a value goes in, is sealed on disk, and comes out in no answer', async () => {
  const host = await credentialHost();
  const made = await host.post(URL, {
    ref: 'stripe',
    kind: 'bearer',
    audiences: ['api.stripe.com'],
    value: VALUE,
  });
  assert.equal(made.statusCode, 201, made.body);
  const answers = [made, await host.get(URL), await host.get(`${URL}/stripe`)];
  const repeated = { 'idempotency-key': 'once' };
  answers.push(await host.post(URL, { ref: 'second', value: VALUE }, repeated));
  answers.push(await host.post(URL, { ref: 'second', value: VALUE }, repeated));
  answers.push(await host.post(URL, { ref: 'bad', audiences: ['https://x'], value: VALUE }));
  answers.push(await host.post(URL, { ref: 'worse', value: VALUE, extra: true }));
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [201, 200, 200, 201, 201, 400, 400],
  );
  for (const { body } of answers) assert.ok(!body.includes(VALUE), body);
  const { provenance, header, value } = await opened(host, 'stripe');
  assert.deepEqual([header, value], ['authorization', `Bearer ${VALUE}`]);
  assert.deepEqual(provenance.audiences, ['api.stripe.com']);
  assert.ok(!JSON.stringify(provenance).includes(VALUE));
  const disk = await Promise.all(
    ['gantry.db', 'gantry.db-wal'].map((file) =>
      readFile(path.join(host.dataDir, file)).catch(() => Buffer.of()),
    ),
  );
  for (const bytes of disk) assert.ok(!bytes.includes(VALUE));
});

test('kinds have their header; basic is encoded; short and unaddressed ones are warned of', async () => {
  const host = await credentialHost();
  await host.post(URL, { ref: 'basic', kind: 'basic', value: 'ada:secret' });
  assert.equal((await opened(host, 'basic')).value, `Basic ${Buffer.from('ada:secret').toString('base64')}`);
  const made = await host.post(URL, { ref: 'short', value: 'abc', header: 'X-Token', prefix: 'Token ' });
  assert.deepEqual(made.json().warnings.length, 2);
  assert.deepEqual(
    { ...(await opened(host, 'short')), provenance: 0 },
    { header: 'x-token', value: 'Token abc', provenance: 0 },
  );
});

test('two values overlap, then the old one is not found; expiry is in the provenance', async () => {
  const host = await credentialHost();
  await host.post(URL, { ref: 'rolling', value: 'old-value-1' });
  const expiresAt = new Date(START + 2 * HOUR).toISOString();
  const rotated = await host.post(`${URL}/rolling:rotate`, {
    value: 'new-value-2',
    overlapSeconds: 3600,
    expiresAt,
  });
  assert.deepEqual(
    rotated.json().versions.map((each: { version: number }) => each.version),
    [2, 1],
  );
  assert.equal((await opened(host, 'rolling')).value, 'new-value-2');
  assert.equal((await opened(host, 'rolling@1')).value, 'old-value-1');
  now = START + HOUR;
  await fails(opened(host, 'rolling@1'), 'credential_not_found');
  assert.equal((await opened(host, 'rolling@2')).provenance.expiresAt, expiresAt);
  now = START + 2 * HOUR;
  assert.equal((await host.get(`${URL}/rolling`)).json().state, 'expired');
  now = START;
});

test('scopes: a credential serves its owner and those it is shared with', async () => {
  const host = await credentialHost();
  const other = await host.as('default');
  const reader = await host.post('/v1/host/gantry/keys', { name: 'n', scopes: ['runs:create'] });
  const { principal } = reader.json();
  const me = ownerOf({ tenant: 'default', principal });
  await host.post(URL, { ref: 'mine', scope: 'user', value: VALUE });
  await host.post(URL, { ref: 'ours', scope: 'workspace', value: VALUE });
  const { owner } = (await host.get(`/v1/runs/${await host.start('three')}`)).json();
  const self = ownerOf(owner);
  const elsewhere = { ...self, workspace: 'elsewhere' };
  assert.equal((await opened(host, 'mine', self)).value, VALUE);
  await fails(opened(host, 'mine', me), 'credential_forbidden');
  await fails(opened(host, 'ours', elsewhere), 'credential_forbidden');
  await fails(opened(host, 'missing'), 'credential_not_found');
  await fails(opened(host, 'mine', { ...self, tenant: 'acme' }), 'credential_not_found');
  assertError(await other('GET', `${URL}/mine`), 403, 'credential_forbidden');
  assert.ok(!(await other('GET', URL)).body.includes('"mine"'));
  assert.equal((await host.post(`${URL}/mine:share`, { principal })).statusCode, 200);
  await host.post(`${URL}/ours:share`, { workspace: 'elsewhere' });
  assert.equal((await opened(host, 'mine', me)).value, VALUE);
  assert.equal((await opened(host, 'ours', elsewhere)).value, VALUE);
  await host.post(`${URL}/mine:unshare`, { principal });
  await fails(opened(host, 'mine', me), 'credential_forbidden');
  assertError(await other('POST', `${URL}/mine:rotate`, { value: 'x' }), 403, 'credential_forbidden');
  assertError(await other('DELETE', `${URL}/mine`), 403, 'credential_forbidden');
});

test('a credential of a run serves that run alone', async () => {
  const host = await credentialHost();
  const runId = await host.start('slow');
  assertError(await host.post(URL, { ref: 'r', scope: 'run', value: VALUE }), 400, 'validation_error');
  assertError(
    await host.post(URL, { ref: 'r', scope: 'run', runId: 'run_x', value: VALUE }),
    404,
    'not_found',
  );
  assert.equal((await host.post(URL, { ref: 'r', scope: 'run', runId, value: VALUE })).statusCode, 201);
  const self = ownerOf((await host.get(`/v1/runs/${runId}`)).json().owner);
  assert.equal((await opened(host, 'r', self, runId)).value, VALUE);
  await fails(opened(host, 'r', self, 'run_other'), 'credential_forbidden');
});

test('what the operator opened is read when it is used', async () => {
  const host = await credentialHost();
  await host.post(URL, { ref: 'crm', source: { store: 'env', name: 'CRM_TOKEN' } });
  assert.equal((await opened(host, 'crm')).value, 'from-the-environment');
  await host.post(URL, { ref: 'path', source: { store: 'env', name: 'PATH' } });
  await fails(opened(host, 'path'), 'credential_unavailable');
  await host.post(URL, { ref: 'file', source: { store: 'files', name: 'token' } });
  await fails(opened(host, 'file'), 'credential_unavailable');
  await mkdir(path.join(host.secretsDir, 'default'));
  await writeFile(path.join(host.secretsDir, 'default', 'token'), 'from-a-file\n');
  assert.equal((await opened(host, 'file')).value, 'from-a-file');
  await host.post(URL, { ref: 'up', source: { store: 'files', name: '../default/token' } });
  await fails(opened(host, 'up'), 'credential_unavailable');
});

test('revoked, removed and taken', async () => {
  const host = await credentialHost();
  await host.post(URL, { ref: 'gone', value: VALUE });
  assertError(await host.post(URL, { ref: 'gone', value: VALUE }), 409, 'conflict');
  assert.equal((await host.post(`${URL}/gone:revoke`, {})).json().state, 'revoked');
  await fails(opened(host, 'gone'), 'credential_not_found');
  assertError(await host.post(`${URL}/gone:rotate`, { value: VALUE }), 409, 'conflict');
  assert.equal((await host.request({ method: 'DELETE', url: `${URL}/gone` })).statusCode, 200);
  assertError(await host.get(`${URL}/gone`), 404, 'credential_not_found');
  assertError(await host.post(URL, { ref: 'none' }), 400, 'validation_error');
});

test('a list has pages', async () => {
  const host = await credentialHost();
  const acme = await host.as('acme');
  for (const ref of ['a', 'b', 'c'])
    await acme('POST', URL, { ref, value: VALUE, scope: ref === 'b' ? 'user' : 'tenant' });
  const first = (await acme('GET', `${URL}?limit=2`)).json();
  assert.deepEqual(
    first.credentials.map(({ ref }: { ref: string }) => ref),
    ['c', 'b'],
  );
  const rest = (await acme('GET', `${URL}?limit=2&before=${first.nextBefore}`)).json();
  assert.deepEqual(
    rest.credentials.map(({ ref }: { ref: string }) => ref),
    ['a'],
  );
  assert.equal(rest.nextBefore, undefined);
});
