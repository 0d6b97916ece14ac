import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { outgoing } from './outgoing.ts';
import { follow } from './redirect.ts';
import { failsWith, fakeLookup, loopbackEgress, textOf } from './testing/egress.ts';
import { httpServer } from './testing/server.ts';

const lookup = fakeLookup({
  'hook.example': ['127.0.0.1'],
  'other.example': ['127.0.0.1'],
  'inside.example': ['10.1.2.3'],
});

/** Redirects `/<status>?<location>`; everything else is shown as the server saw it. */
async function redirector(t: TestContext): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = [];
  const show = async (request: IncomingMessage) => {
    const { method, url, headers } = request;
    return JSON.stringify({ method, url, headers, body: (await request.toArray()).join('') });
  };
  const port = await httpServer(t, async (request, response) => {
    seen.push(`${request.headers.host?.split(':')[0]} ${request.method} ${request.url?.split('?')[0]}`);
    const [, status, location] = /^\/(3\d\d)\?(.*)$/.exec(`${request.url}`) ?? [];
    if (status)
      response.writeHead(Number(status), { location: decodeURIComponent(`${location}`) }).end('moved');
    else response.end(await show(request));
  });
  return { port, seen };
}

const via = (port: number, status: number, location: string) =>
  `http://hook.example:${port}/${status}?${encodeURIComponent(location)}`;

describe('redirects', () => {
  test('are followed when asked, relative ones too', async (t) => {
    const { port, seen } = await redirector(t);
    const twice = via(port, 302, via(port, 307, '/end'));
    const answer = await loopbackEgress(lookup).request(twice, { redirects: 2 });
    assert.equal(answer.url, `http://hook.example:${port}/end`);
    assert.equal(answer.redirected, true);
    assert.deepEqual(seen, ['hook.example GET /302', 'hook.example GET /307', 'hook.example GET /end']);
  });

  test('end at their number', async (t) => {
    const { port, seen } = await redirector(t);
    const twice = via(port, 302, via(port, 302, '/end'));
    const error = await failsWith(
      loopbackEgress(lookup).request(twice, { redirects: 1 }),
      'too_many_redirects',
    );
    assert.equal(error.sent, true);
    assert.equal(seen.length, 2);
  });

  test('are judged like the first URL, and what was sent is not forgotten', async (t) => {
    const { port, seen } = await redirector(t);
    const places = {
      'http://169.254.169.254/latest/meta-data/': 'address_not_allowed',
      'http://10.0.0.1/': 'address_not_allowed',
      'http://inside.example/': 'address_not_allowed',
      'http://[::ffff:10.0.0.1]/': 'address_not_allowed',
      'http://metadata.google.internal/': 'host_not_allowed',
      'http://user:pass@other.example/': 'credentials_in_url',
      'http://other.example:22/': 'port_not_allowed',
      'http://gone.example/': 'resolve_failed',
      'file:///etc/passwd': 'scheme_not_allowed',
      'http://': 'redirect_not_allowed',
    } as const;
    for (const [location, reason] of Object.entries(places)) {
      const work = loopbackEgress(lookup).request(via(port, 302, location), { redirects: 5 });
      assert.equal((await failsWith(work, reason)).sent, true, location);
    }
    assert.equal(seen.length, Object.keys(places).length);
  });

  test('take no credentials to another origin', async (t) => {
    const { port } = await redirector(t);
    const seenAt = async (location: string) => {
      const answer = await loopbackEgress(lookup).request(via(port, 307, location), {
        headers: { Authorization: 'Bearer t', Cookie: 'a=1', 'X-Signature': 's', 'X-Kept': 'k' },
        sensitiveHeaders: ['x-SIGNATURE'],
        redirects: 1,
      });
      const {
        authorization,
        cookie,
        'x-signature': signature,
        'x-kept': kept,
      } = JSON.parse(textOf(answer.body)).headers;
      return { authorization, cookie, signature, kept };
    };
    const all = { authorization: 'Bearer t', cookie: 'a=1', signature: 's', kept: 'k' };
    const none = { authorization: undefined, cookie: undefined, signature: undefined, kept: 'k' };
    assert.deepEqual(await seenAt('/same'), all);
    assert.deepEqual(await seenAt(`http://other.example:${port}/`), none);
    const { port: otherPort } = await redirector(t);
    assert.deepEqual(await seenAt(`http://hook.example:${otherPort}/`), none);
  });

  test('turn POST into GET where the standard says so', async (t) => {
    const { port } = await redirector(t);
    const seenAfter = async (status: number, method: string) => {
      const answer = await loopbackEgress(lookup).request(via(port, status, '/end'), {
        method,
        body: 'data',
        headers: { 'content-type': 'text/plain' },
        redirects: 1,
      });
      const seen = JSON.parse(textOf(answer.body));
      return [seen.method, seen.body, seen.headers['content-type']];
    };
    for (const status of [301, 302, 303])
      assert.deepEqual(await seenAfter(status, 'POST'), ['GET', '', undefined], `${status}`);
    for (const status of [307, 308])
      assert.deepEqual(await seenAfter(status, 'POST'), ['POST', 'data', 'text/plain'], `${status}`);
    assert.deepEqual(await seenAfter(302, 'PUT'), ['PUT', 'data', 'text/plain']);
    assert.deepEqual(await seenAfter(303, 'PUT'), ['GET', '', undefined]);
  });
});

test('no redirect leaves https', () => {
  const from = new URL('https://hook.example/');
  const to = (location: string) => follow(from, outgoing({}), { status: 302, location }, []);
  for (const location of ['http://hook.example/', 'http://127.0.0.1/', 'ftp://hook.example/', 'https://[']) {
    const followed = to(location);
    assert.ok(!followed.allowed, location);
    assert.equal(followed.problem.reason, 'redirect_not_allowed');
  }
  const up = follow(
    new URL('http://hook.example/'),
    outgoing({}),
    { status: 302, location: 'https://hook.example/' },
    [],
  );
  assert.ok(up.allowed && up.url === 'https://hook.example/');
});
