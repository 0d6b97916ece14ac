import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { egressFetch } from './fetch.ts';
import { REQUEST_BYTES_MAX } from './outgoing.ts';
import { failsWith, loopbackEgress } from './testing/egress.ts';
import { cannedServer, httpServer } from './testing/server.ts';

const egress = loopbackEgress();
const send = egressFetch(egress, { redirects: 1, maxResponseBytes: 10_000 });

const jsonOf = async (answer: Response) => (await answer.json()) as Record<string, string | undefined>;

/** Answers with what it got. */
const echo = async (t: TestContext): Promise<string> => {
  const port = await httpServer(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    response.end(JSON.stringify({ method: request.method, type: request.headers['content-type'], body }));
  });
  return `http://127.0.0.1:${port}/`;
};

test('texts, forms, blobs and streams are sent as fetch sends them', async (t) => {
  const url = await echo(t);
  const seen = async (body: NonNullable<RequestInit['body']>) =>
    jsonOf(await send(url, { method: 'POST', body }));
  const text = { method: 'POST', type: 'text/plain;charset=UTF-8', body: 'hello' };
  assert.deepEqual(await seen('hello'), text);
  assert.deepEqual(await (await send(new Request(url, { method: 'POST', body: 'hello' }))).json(), text);
  const pairs = { method: 'POST', type: 'application/x-www-form-urlencoded;charset=UTF-8', body: 'a=1+2' };
  assert.deepEqual(await seen(new URLSearchParams({ a: '1 2' })), pairs);
  assert.deepEqual(await seen(new Blob(['x'], { type: 'audio/wav' })), {
    ...text,
    type: 'audio/wav',
    body: 'x',
  });
  assert.deepEqual(await seen(new Blob(['x']).stream()), { method: 'POST', body: 'x' });
  const form = new FormData();
  form.set('file', new File(['content'], 'a.txt'));
  const multipart = await seen(form);
  assert.match(`${multipart.type}`, /^multipart\/form-data; boundary=/);
  assert.match(`${multipart.body}`, /name="file"; filename="a.txt"[\s\S]*content/);
  const large = new Blob([new Uint8Array(REQUEST_BYTES_MAX + 1)]).stream();
  await failsWith(send(url, { method: 'POST', body: large }), 'request_not_allowed');
});

test('an answer has status, headers, address and a body that arrives', async (t) => {
  const go = Promise.withResolvers<void>();
  const port = await httpServer(t, (request, response) => {
    if (request.url === '/empty') response.writeHead(204).end();
    else response.writeHead(418, { 'x-kind': 'tea' }).write('first');
    void go.promise.then(() => response.end());
  });
  const answer = await send(new URL(`http://127.0.0.1:${port}/pot`), {
    headers: { host: 'x', connection: 'close' },
  });
  assert.deepEqual([answer.status, answer.ok, answer.headers.get('x-kind')], [418, false, 'tea']);
  assert.equal(answer.url, `http://127.0.0.1:${port}/pot`);
  const reader = answer.body?.getReader();
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first');
  go.resolve();
  assert.equal((await reader?.read())?.done, true);
  assert.equal((await send(`http://127.0.0.1:${port}/empty`)).body, null);
});

test('redirects are followed, shown or refused as the call asks', async (t) => {
  const url = await echo(t);
  const port = await httpServer(t, (_request, response) => response.writeHead(302, { location: url }).end());
  const from = `http://127.0.0.1:${port}/`;
  assert.equal((await jsonOf(await send(from))).method, 'GET');
  assert.equal((await send(from, { redirect: 'manual' })).status, 302);
  await failsWith(send(from, { redirect: 'error' }), 'redirect_not_allowed');
  assert.equal((await egressFetch(egress)(from)).status, 302);
});

test('the guard, the limits and the signal of the caller hold', async (t) => {
  await failsWith(send('https://10.0.0.1/'), 'address_not_allowed');
  await failsWith(send('https://user:word@127.0.0.1/'), 'credentials_in_url');
  await failsWith(send('http:\\\\127.0.0.1/'), 'url_invalid');
  const odd = await cannedServer(t, 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n');
  await failsWith(send(`http://127.0.0.1:${odd}/`), 'response_invalid');
  const reason = new Error('enough');
  await assert.rejects(send('http://127.0.0.1:9/', { signal: AbortSignal.abort(reason) }), reason);
  const port = await httpServer(t, (_request, response) => void response.write('x'.repeat(10_001)));
  const broken = Promise.withResolvers<unknown>();
  const watched = egressFetch(egress, { maxResponseBytes: 10_000, onBreak: broken.resolve });
  await failsWith((await watched(`http://127.0.0.1:${port}/`)).text(), 'response_too_large');
  assert.ok((await broken.promise) instanceof Error);
});
