/** What a link to S3 is signed for. The server of the tests checks no signatures, so they are computed here anew. */
import assert from 'node:assert/strict';
import { createHmac, hash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { LINK_SECONDS_MAX, type LinkMethod } from '../ports/blobs.ts';
import { read } from '../testing/calls.ts';
import { openTestS3, useTestCredentials } from '../testing/s3.ts';
import { openS3Blobs } from './blobs.ts';

useTestCredentials();
const SECRET = process.env.AWS_SECRET_ACCESS_KEY ?? '';
const SIGNED_AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const at = { bucket: 'artifacts', key: 'a b/é.txt' };

async function world(t: TestContext) {
  const server = await openTestS3('objects');
  const endpoint = `http://${server.host}:${server.port}`;
  const port = await openS3Blobs({ bucket: 'objects', prefix: 'p/', endpoint });
  t.after(async () => {
    await port.close();
    await server.close();
  });
  const linkOf = (tenant: string, method: LinkMethod) =>
    port.presign({ ...at, method, seconds: 60 }, read(tenant, SIGNED_AT));
  return { port, linkOf };
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Signature version 4 of a request in a query, as Amazon describes it. */
function signatureOf(method: string, url: URL): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort();
  const canonical = [method, url.pathname, query.join('&'), `host:${url.host}\n`, 'host', 'UNSIGNED-PAYLOAD'];
  const [, ...scope] = (url.searchParams.get('X-Amz-Credential') ?? '').split('/');
  const date = url.searchParams.get('X-Amz-Date') ?? '';
  const digest = hash('sha256', canonical.join('\n'), 'hex');
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), digest].join('\n');
  return hmac(scope.reduce<string | Buffer>(hmac, `AWS4${SECRET}`), text).toString('hex');
}

const isSigned = (method: string, link: string): boolean => {
  const url = new URL(link);
  return signatureOf(method, url) === url.searchParams.get('X-Amz-Signature');
};

test('a link is signed for its method, its time and its end', async (t) => {
  const { linkOf, port } = await world(t);
  for (const method of ['GET', 'PUT'] as const) {
    const link = await linkOf('acme', method);
    assert.equal(isSigned(method, link), true);
    for (const other of ['GET', 'PUT', 'DELETE', 'HEAD', 'POST'].filter((each) => each !== method))
      assert.equal(isSigned(other, link), false, `${method} as ${other}`);
    const { searchParams } = new URL(link);
    assert.equal(searchParams.get('X-Amz-Date'), '20260102T030405Z');
    assert.equal(searchParams.get('X-Amz-Expires'), '60');
    assert.equal(searchParams.get('X-Amz-SignedHeaders'), 'host');
  }
  const week = await port.presign(
    { ...at, method: 'PUT', seconds: LINK_SECONDS_MAX },
    read('acme', SIGNED_AT),
  );
  assert.equal(isSigned('PUT', week), true);
});

test('nothing of a link can be changed', async (t) => {
  const { linkOf } = await world(t);
  const link = await linkOf('acme', 'GET');
  const bent: Readonly<Record<string, [string | RegExp, string]>> = {
    'another object': ['%C3%A9.txt', 'other.txt'],
    'a longer key': ['.txt?', '.txt/x?'],
    'another bucket of ours': ['/artifacts/', '/exports/'],
    'another bucket': ['/objects/', '/others/'],
    'no prefix': ['/p/', '/'],
    'a later end': ['X-Amz-Expires=60', 'X-Amz-Expires=604800'],
    'a later time': ['X-Amz-Date=2026', 'X-Amz-Date=2027'],
    'another region': ['us-east-1', 'eu-west-1'],
    'another server': ['127.0.0.1', '127.0.0.2'],
    'one parameter more': [/$/, '&response-content-type=text%2Fhtml'],
    'another operation': ['GetObject', 'PutObject'],
  };
  for (const [name, [from, to]] of Object.entries(bent)) {
    const other = link.replace(from, to);
    assert.notEqual(other, link, name);
    assert.equal(isSigned('GET', other), false, name);
  }
});

test('the link of one tenant cannot be turned to an object of another', async (t) => {
  const { linkOf } = await world(t);
  for (const method of ['GET', 'PUT'] as const) {
    const [ours, theirs] = await Promise.all([linkOf('acme', method), linkOf('other', method)]);
    const folderOf = (link: string) => new URL(link).pathname.split('/')[3] ?? '';
    assert.match(folderOf(ours), /^[0-9a-f]{32}$/);
    assert.notEqual(folderOf(ours), folderOf(theirs));
    const turned = ours.replace(folderOf(ours), folderOf(theirs));
    assert.equal(new URL(turned).pathname, new URL(theirs).pathname);
    assert.equal(isSigned(method, turned), false);
    const lent = new URL(theirs);
    lent.searchParams.set('X-Amz-Signature', new URL(ours).searchParams.get('X-Amz-Signature') ?? '');
    assert.equal(isSigned(method, lent.href), false);
  }
});
