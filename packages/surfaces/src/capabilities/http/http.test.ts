/** Requests of pack code through the gate, to servers of the test. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { after, describe, type TestContext, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createEgress, createEgressByPurpose, type Egress, PUBLIC_POLICY } from '@gantry/egress';
import { OpenwopError } from '@gantry/protocol';
import { REFUSED } from '../../../../egress/src/testing/corpus.ts';
import { loopbackEgress } from '../../../../egress/src/testing/egress.ts';
import { httpServer } from '../../../../egress/src/testing/server.ts';
import { watchSockets } from '../../../../egress/src/testing/sockets.ts';
import type { Data } from '../../calls/data.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openTestSurfaces } from '../../testing/surfaces.ts';
import { callGateOf, nodeOf, type TestCallGate } from '../../testing/test-call-gate.ts';
import type { HttpAnswer } from './exchange.ts';

const folder = freshFolder();
const closing: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of closing) await close();
  folder.remove();
});

/** What only the code of the host could open: the same egress for both ways. */
async function callGateOn(egress: Egress): Promise<TestCallGate> {
  const byPurpose = { ...createEgressByPurpose(), public: egress, for: () => egress };
  const opened = await openTestSurfaces(folder.path, { egress: byPurpose });
  closing.push(opened.close);
  return callGateOf(opened.surfaces);
}

async function serverOf(t: TestContext, handler: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await httpServer(t, handler)}`;
}

const loopback = await callGateOn(loopbackEgress());
let runs = 0;
/** A node of a new run unless `facts` say which. */
const fetchFrom = (facts: Parameters<typeof nodeOf>[1] = {}, path = 'http.safeFetch') => {
  const call = nodeOf(loopback, { runId: `run-${runs++}`, ...facts });
  return async (...args: Data[]): Promise<HttpAnswer> => {
    const answer: unknown = await call(path, ...args);
    return answer as HttpAnswer;
  };
};

const failure = async (work: Promise<unknown>): Promise<OpenwopError> => {
  const error = await work.then(
    () => assert.fail('should fail'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof OpenwopError, String(error));
  return error;
};

const textOf = ({ body }: HttpAnswer): string => Buffer.from(body).toString();

describe('what is sent and answered', () => {
  test('method, headers and body go out, all of the answer comes back', async (t) => {
    const origin = await serverOf(t, async (request, response) => {
      const body = (await request.toArray()).join('');
      const { 'x-note': note, host, connection } = request.headers;
      response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], 'x-note': String(note) });
      response.end(JSON.stringify({ method: request.method, body, host, connection }));
    });
    const init = {
      method: 'post',
      headers: { 'X-Note': 'hi', Host: 'evil', Connection: 'close' },
      body: 'text',
    };
    const answer = await fetchFrom()(`${origin}/path`, init);
    const { method, body, host } = JSON.parse(textOf(answer));
    assert.deepEqual([answer.status, method, body, host], [201, 'POST', 'text', new URL(origin).host]);
    const cookies = answer.headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
    assert.deepEqual([cookies, answer.url, answer.redirected], [['a=1', 'b=2'], `${origin}/path`, false]);
  });

  test('compressed answers are opened, and only so far as an answer may be large', async (t) => {
    const bomb = gzipSync(Buffer.alloc(11 * 1024 * 1024));
    const bodies: Record<string, [encoding: string, body: Buffer]> = {
      '/gzip': ['gzip', gzipSync('plain')],
      '/twice': ['br, gzip', gzipSync(brotliCompressSync('plain'))],
      '/bomb': ['gzip', bomb],
      '/often': ['gzip, gzip, gzip', bomb],
      '/strange': ['rot13', bomb],
      '/broken': ['gzip', Buffer.from('plain')],
    };
    const origin = await serverOf(t, ({ url = '' }, response) => {
      const [encoding, body] = bodies[url]!;
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    const fetch = fetchFrom();
    for (const path of ['/gzip', '/twice']) {
      const answer = await fetch(origin + path);
      assert.equal(textOf(answer), 'plain');
      assert.ok(!answer.headers.some(([name]) => name === 'content-encoding' || name === 'content-length'));
    }
    for (const [path, reason] of [
      ['/bomb', 'response_too_large'],
      ['/often', 'response_invalid'],
      ['/strange', 'response_invalid'],
      ['/broken', 'response_invalid'],
    ] as const) {
      const { code, details } = await failure(fetch(origin + path));
      assert.deepEqual([code, details?.reason], ['fetch_failed', reason], path);
    }
  });

  test('redirects are followed, refused or answered, as the pack says', async (t) => {
    const origin = await serverOf(t, ({ url }, response) => {
      if (url === '/end') response.end('there');
      else response.writeHead(302, { location: url === '/in' ? 'http://10.0.0.7/' : '/end' }).end();
    });
    const fetch = fetchFrom();
    const { redirected, ...followed } = await fetch(`${origin}/`);
    assert.deepEqual([redirected, textOf({ redirected, ...followed })], [true, 'there']);
    assert.equal((await fetch(`${origin}/`, { redirect: 'manual' })).status, 302);
    const refused = await failure(fetch(`${origin}/`, { redirect: 'error' }));
    assert.deepEqual([refused.code, refused.details?.reason], ['fetch_failed', 'redirect_not_allowed']);
    assert.equal((await failure(fetch(`${origin}/in`))).code, 'ssrf_blocked');
  });

  test('nothing leaves HTTP, and an answer is only so large', async (t) => {
    const origin = await serverOf(t, (_, response) => void response.end(Buffer.alloc(10 * 1024 * 1024 + 1)));
    const fetch = fetchFrom();
    for (const headers of [{ Connection: 'upgrade' }, { Upgrade: 'websocket' }] as const) {
      const { code, details } = await failure(fetch(origin, { headers }));
      assert.deepEqual([code, details?.reason], ['ssrf_blocked', 'upgrade_not_allowed']);
    }
    const { code, details } = await failure(fetch(origin));
    assert.deepEqual([code, details?.reason], ['fetch_failed', 'response_too_large']);
  });
});

test('safeFetch connects to no URL of the corpus, and names no address', async (t) => {
  const sockets = watchSockets(t);
  const egress = createEgress({ policy: PUBLIC_POLICY, lookup: async () => ['10.0.0.7'] });
  const call = nodeOf(await callGateOn(egress));
  for (const url of [...Object.values(REFUSED).flat(), 'https://inside.example/'])
    for (const path of ['http.safeFetch', 'net.fetch']) {
      const { code, message } = await failure(call(path, url));
      assert.match(code, /^(ssrf_blocked|fetch_failed)$/, url);
      assert.doesNotMatch(message, /10\.0\.0\.7/);
    }
  assert.deepEqual([...sockets.all], []);
});

describe('a node that runs again', () => {
  const counting = async (t: TestContext, statuses: readonly number[] = []) => {
    const requests: string[] = [];
    const origin = await serverOf(t, ({ method, url }, response) => {
      const count = requests.push(`${method} ${url}`);
      response.writeHead(statuses[count - 1] ?? 200).end(String(count));
    });
    return { origin, requests };
  };
  const POST = { method: 'POST' };

  test('gets the recorded answers in the same attempt, bytes too', async (t) => {
    const { origin, requests } = await counting(t, [503]);
    const facts = { runId: `run-${runs++}` };
    for (const _ of [1, 2]) {
      const fetch = fetchFrom(facts);
      assert.deepEqual([textOf(await fetch(origin)), textOf(await fetch(origin, POST))], ['1', '2']);
    }
    assert.deepEqual(requests, ['GET /', 'POST /']);
    assert.equal(textOf(await fetchFrom(facts)(`${origin}/?now=2`, POST)), '2');
    for (const [url, init] of [
      [origin, { method: 'DELETE' }],
      ['https://other.example/', POST],
    ] as const) {
      const { code } = await failure(fetchFrom(facts)(url, init));
      assert.equal(code, 'idempotency_key_mismatch');
    }
  });

  test('asks anew in a later attempt, unless something unsafe followed', async (t) => {
    const { origin, requests } = await counting(t);
    const facts = { runId: `run-${runs++}` };
    await fetchFrom(facts)(origin);
    const later = fetchFrom({ ...facts, attempt: 1 });
    assert.deepEqual([textOf(await later(origin)), textOf(await later(origin, POST))], ['2', '3']);
    const last = fetchFrom({ ...facts, attempt: 2 });
    assert.deepEqual([textOf(await last(origin)), textOf(await last(origin, POST))], ['2', '3']);
    assert.deepEqual(requests, ['GET /', 'GET /', 'POST /']);
  });

  test('sends again in a later attempt what the server could not do, and nothing that it answered', async (t) => {
    const { origin, requests } = await counting(t, [200, 503]);
    const facts = { runId: `run-${runs++}` };
    for (const attempt of [0, 1, 2]) {
      const fetch = fetchFrom({ ...facts, attempt });
      await fetch(`${origin}/first`, POST);
      await fetch(`${origin}/second`, POST);
    }
    assert.deepEqual(requests, ['POST /first', 'POST /second', 'POST /second']);
  });

  test('does not send again what may have been done', async (t) => {
    const requests: string[] = [];
    const origin = await serverOf(t, ({ url, socket }) => {
      requests.push(String(url));
      socket.destroy();
    });
    const facts = { runId: `run-${runs++}` };
    for (const attempt of [0, 1]) {
      const { code, details } = await failure(fetchFrom({ ...facts, attempt })(origin, POST));
      assert.deepEqual([code, details?.sent], ['fetch_failed', true]);
    }
    assert.equal(requests.length, 1);
  });
});
