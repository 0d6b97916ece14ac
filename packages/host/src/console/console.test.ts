/** Browsers get the console, everybody else what they got before. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { temporaryFolder } from '../testing/host-process.ts';
import { testHost } from '../testing/test-host.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', authorization: '' };
const SCRIPT = 'export const one = 1;';

async function builtHost(t: Parameters<typeof testHost>[0], files: Record<string, string | Buffer>) {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await mkdir(path.join(folder.path, 'assets'));
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder.path, name), content);
  return testHost(t, { consoleFolder: folder.path });
}

const BUILT = {
  'made.json': JSON.stringify({ page: '<!doctype html><title>Gantry</title>' }),
  'assets/app-1.js': SCRIPT,
  'assets/app-1.js.gz': gzipSync(SCRIPT),
  'assets/app-1.js.br': brotliCompressSync(SCRIPT),
  'assets/font-1.woff2': 'font',
};

test('a browser gets the page at every address that is not of the API', async (t) => {
  const { host, request } = await builtHost(t, BUILT);
  for (const url of ['/', '/runs/run_1?view=log', '/inbox']) {
    const { statusCode, headers, body } = await request({ url, headers: BROWSER });
    assert.deepEqual([statusCode, body], [200, '<!doctype html><title>Gantry</title>'], url);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'.*trusted-types 'none'/);
    assert.doesNotMatch(policy, /unsafe|https?:/);
    assert.equal(headers.vary, 'Accept');
  }
  for (const url of ['/v1/nothing', '/healthzz', '/.well-known/nothing']) {
    const { headers } = await request({
      url,
      headers: { ...BROWSER, ...(url === '/healthzz' && { accept: '*/*' }) },
    });
    assert.match(String(headers['content-type']), /json/, url);
  }
  assert.equal((await request({ url: '/' })).json().openapi, '/v1/openapi.json');
  assert.equal((await request({ url: '/runs' })).json().error, 'validation_error');
  assert.equal(
    (await request({ method: 'POST', url: '/runs', headers: BROWSER })).json().error,
    'validation_error',
  );
  assert.equal(await host.consoleProblem(), null);
});

test('files are sent as they were compressed, for ever, and nothing else is', async (t) => {
  const { request } = await builtHost(t, BUILT);
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ] as const) {
    const { statusCode, headers } = await request({
      url: '/assets/app-1.js',
      headers: { 'accept-encoding': accepted, authorization: '' },
    });
    assert.deepEqual([statusCode, headers['content-encoding']], [200, encoding]);
    assert.match(String(headers['content-type']), /^text\/javascript/);
    assert.match(String(headers['cache-control']), /immutable/);
  }
  assert.equal((await request({ url: '/assets/font-1.woff2' })).headers['content-type'], 'font/woff2');
  for (const name of ['app-2.js', '..%2Fmade.json', 'app-1.js.gz', '%2e%2e%2fmade.json']) {
    const { statusCode } = await request({ url: `/assets/${name}` });
    assert.ok([400, 404].includes(statusCode), `${name}: ${statusCode}`);
  }
});

test('a console that was not built says why, and the API works', async (t) => {
  const failed = await builtHost(t, { ...BUILT, 'failed.txt': 'main.tsx:1: <unexpected> "}"' });
  const page = await failed.request({ url: '/', headers: BROWSER });
  assert.equal(page.statusCode, 503);
  assert.match(page.body, /main\.tsx:1: &lt;unexpected&gt;/);
  assert.match(page.body, /node scripts\/bundle\.mjs/);
  assert.match((await failed.host.consoleProblem())!, /was not built: main\.tsx/);
  const missing = await builtHost(t, {});
  assert.match((await missing.request({ url: '/', headers: BROWSER })).body, /The console is not built\./);
  assert.equal((await missing.request({ url: '/' })).statusCode, 200);
});
