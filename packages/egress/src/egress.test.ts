import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEgress } from './egress.ts';
import { PUBLIC_POLICY } from './policy.ts';
import { failsWith, fakeLookup, LOOPBACK_POLICY, loopbackEgress, textOf } from './testing/egress.ts';
import { httpServer, rawServer } from './testing/server.ts';

describe('a request', () => {
  test('goes to the pinned address under its own name', async (t) => {
    const port = await httpServer(t, async (request, response) => {
      const body = (await request.toArray()).join('');
      response.writeHead(202, { 'x-seen': `${request.method} ${request.url}`, 'set-cookie': ['a=1', 'b=2'] });
      response.end(JSON.stringify({ headers: request.headers, body }));
    });
    const answer = await loopbackEgress().request(`http://hook.example:${port}/in?x=1#part`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', Authorization: 'Bearer t' },
      body: 'hello',
    });
    assert.equal(answer.status, 202);
    assert.equal(answer.address, '127.0.0.1');
    assert.equal(answer.url, `http://hook.example:${port}/in?x=1`);
    assert.equal(answer.redirected, false);
    assert.equal(answer.headers.get('x-seen'), 'POST /in?x=1');
    assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2']);
    assert.deepEqual(JSON.parse(textOf(answer.body)), {
      headers: {
        host: `hook.example:${port}`,
        connection: 'keep-alive',
        'content-type': 'text/plain',
        'content-length': '5',
        authorization: 'Bearer t',
        'accept-encoding': 'identity',
      },
      body: 'hello',
    });
  });

  test('answers every status, and redirects too when none are followed', async (t) => {
    const port = await httpServer(t, (request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { location: '/200' }).end();
    });
    for (const status of [200, 204, 301, 302, 307, 404, 500, 503]) {
      const answer = await loopbackEgress().request(`http://127.0.0.1:${port}/${status}`);
      assert.equal(answer.status, status);
    }
  });

  test('takes no way through a proxy of the environment', async (t) => {
    const proxied: string[] = [];
    const proxy = await httpServer(t, (request, response) => {
      proxied.push(`${request.url}`);
      response.end();
    });
    const port = await httpServer(t, (_request, response) => response.end('direct'));
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'] as const;
    const before = names.map((name) => process.env[name]);
    t.after(() => {
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      }
    });
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy}`;
    const answer = await loopbackEgress().request(`http://hook.example:${port}/`);
    assert.equal(textOf(answer.body), 'direct');
    assert.deepEqual(proxied, []);
  });
});

describe('names and addresses', () => {
  test('one private answer among public ones refuses the host, and nobody is called', async (t) => {
    let calls = 0;
    const port = await rawServer(t, () => {
      calls += 1;
    });
    const lookup = fakeLookup({
      'mixed.example': ['93.184.215.14', '10.0.0.7'],
      'mapped.example': ['93.184.215.14', '::ffff:169.254.169.254'],
      'here.example': ['127.0.0.1', '0.0.0.0'],
      'zone.example': ['2606:4700::1%eth0'],
      'odd.example': ['127.1'],
    });
    for (const name of ['mixed', 'mapped', 'here', 'zone', 'odd']) {
      const work = loopbackEgress(lookup).request(`http://${name}.example:${port}/`);
      const error = await failsWith(work, 'address_not_allowed');
      assert.equal(error.sent, false);
      assert.doesNotMatch(error.message, /\d+\.\d+/, 'tells nothing about the inner network');
    }
    assert.equal(calls, 0);
  });

  test('a name is asked for once, and the next request judges the new answer', async (t) => {
    let hits = 0;
    const port = await httpServer(t, (_request, response) => {
      hits += 1;
      response.end();
    });
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']];
    const egress = loopbackEgress(async () => answers.shift() ?? assert.fail('asked too often'));
    const url = `http://rebind.example:${port}/`;
    assert.equal((await egress.request(url)).address, '127.0.0.1');
    assert.equal(answers.length, 2, 'connecting did not resolve again');
    await failsWith(egress.request(url), 'address_not_allowed');
    assert.equal(await egress.check(url), undefined);
    assert.equal(hits, 1);
  });

  test('a good answer at registration does not help a bad one at delivery', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1']];
    const egress = createEgress({ policy: PUBLIC_POLICY, lookup: async () => answers.shift() ?? [] });
    assert.equal(await egress.check('https://rebind.example/'), undefined);
    await failsWith(egress.request('https://rebind.example/'), 'address_not_allowed');
  });

  test('where one pinned address is down, the next is used', async (t) => {
    const port = await httpServer(t, (_request, response) => response.end());
    const lookup = fakeLookup({ 'two.example': ['127.0.0.2', '127.0.0.1'] });
    assert.equal((await loopbackEgress(lookup).request(`http://two.example:${port}/`)).address, '127.0.0.1');
  });

  test('an address is never looked up', async (t) => {
    const port = await httpServer(t, (_request, response) => response.end());
    const lookup = fakeLookup({});
    await loopbackEgress(lookup).request(`http://127.0.0.1:${port}/`);
    await loopbackEgress(lookup).request(`http://2130706433:${port}/`);
    assert.deepEqual(lookup.asked, []);
  });

  test('the system resolver knows localhost', async (t) => {
    const port = await httpServer(t, (_request, response) => response.end());
    assert.equal(
      (await createEgress({ policy: LOOPBACK_POLICY }).request(`http://localhost:${port}/`)).status,
      200,
    );
  });

  test('check asks the resolver and says what is wrong', async () => {
    const lookup = fakeLookup({ 'inside.example': ['192.168.0.4'], 'empty.example': [] });
    const egress = createEgress({ policy: PUBLIC_POLICY, lookup });
    const reasonFor = async (url: string) => (await egress.check(url))?.reason;
    assert.equal(await reasonFor('https://inside.example/'), 'address_not_allowed');
    assert.equal(await reasonFor('https://empty.example/'), 'resolve_failed');
    assert.equal(await reasonFor('https://nowhere.example/'), 'resolve_failed');
    assert.equal(await reasonFor('http://inside.example/'), 'scheme_not_allowed');
    assert.equal(await reasonFor('https://8.8.8.8/'), undefined);
    assert.deepEqual(lookup.asked, ['inside.example', 'empty.example', 'nowhere.example']);
  });
});
