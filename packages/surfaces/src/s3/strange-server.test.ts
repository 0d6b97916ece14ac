/** A server that stops amid its work, or will not do it: every call ends in time, and says what to do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { BlobPort } from '../ports/blobs.ts';
import { read, write } from '../testing/calls.ts';
import { useTestCredentials } from '../testing/s3.ts';
import { openS3Blobs } from './blobs.ts';
import { S3_TIMES } from './bucket.ts';

useTestCredentials();

type Answering = (request: IncomingMessage, response: ServerResponse) => void;
const SHORT = { connectMs: 50, answerMs: 100, silenceMs: 60_000, bytesPerMsMin: 10 };

async function world(t: TestContext, answering: Answering, times = SHORT) {
  const server = createServer(answering).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address);
  const endpoint = `http://127.0.0.1:${address.port}`;
  const port = await openS3Blobs({ bucket: 'objects', prefix: '', endpoint }, times);
  t.after(async () => {
    await port.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port, server };
}

const at = { bucket: 'artifacts', key: 'k' };
const away = {
  name: 'OpenwopError',
  code: 'storage_unavailable',
  message: /^S3 at http:.*objects is not available \(.+\)\. .*asking again is safe/,
};

const CALLS: Readonly<Record<string, (port: BlobPort) => Promise<unknown>>> = {
  put: (port) => port.put({ ...at, bytes: new Uint8Array(500), contentType: null }, write('acme')),
  get: (port) => port.get(at, read('acme')),
  delete: (port) => port.delete(at, write('acme')),
  list: (port) => port.list({ bucket: 'artifacts', prefix: '', after: null, limit: 9 }, read('acme')),
  presign: (port) => port.presign({ ...at, method: 'GET', seconds: 60 }, read('acme')),
  health: (port) => port.health(),
};

/** Bodies are read by the client itself except where they are the object. */
const WITH_BODY: Answering = (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-length': '5000', 'content-type': 'application/xml' });
  if (request.method === 'HEAD') response.end();
  else response.write('<?xml version="1.0"?><a>');
};

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name}: a server that takes the request and says nothing`, async (t) => {
    const { port } = await world(t, () => {});
    await assert.rejects(call(port), away);
  });
}

for (const name of ['get', 'list', 'put'] as const) {
  test(`${name}: a server that goes silent within its answer`, async (t) => {
    const { port } = await world(t, WITH_BODY);
    await assert.rejects(CALLS[name]!(port), away);
  });
}

test('a server that trickles is given up when the time for the size is over', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { port } = await world(
    t,
    (request, response) => {
      response.writeHead(200, { 'content-length': '5000' });
      const drip = setInterval(() => response.write('a'), 5);
      request.on('close', () => {
        clearInterval(drip);
        closed.resolve();
      });
    },
    { ...SHORT, connectMs: 500, answerMs: 500 },
  );
  await assert.rejects(port.get(at, read('acme')), { ...away, message: /within 1 s\)/ });
  await closed.promise;
});

test('silence alone ends a large object sooner than its time', async (t) => {
  const { port } = await world(t, WITH_BODY, { ...SHORT, silenceMs: 100, bytesPerMsMin: 0.01 });
  await assert.rejects(port.get(at, read('acme')), away);
});

test('slow answers that keep their times are taken', async (t) => {
  const { port } = await world(
    t,
    (_request, response) => {
      response.writeHead(200, { 'content-length': '3', 'content-type': 'text/plain' });
      response.write('a');
      setTimeout(() => response.end('bc'), 50);
    },
    S3_TIMES,
  );
  assert.deepEqual(await port.get(at, read('acme')), {
    bytes: new Uint8Array(Buffer.from('abc')),
    contentType: 'text/plain',
  });
});

test('no connection is held while a reader waits for room, and the wait is not counted', async (t) => {
  const closed = Promise.withResolvers<void>();
  let requests = 0;
  const { port } = await world(
    t,
    (request, response) => {
      response.writeHead(200, { 'content-length': '3' });
      if (++requests > 1) return response.end('new');
      response.write('o');
      request.on('close', closed.resolve);
    },
    S3_TIMES,
  );
  const asked: number[] = [];
  const found = await port.get(at, read('acme'), async (bytes) => {
    asked.push(bytes);
    await closed.promise;
  });
  assert.deepEqual(found?.bytes, new Uint8Array(Buffer.from('new')));
  assert.deepEqual(asked, [3], 'room is asked for once');
});

test('who gives up waiting for room leaves no connection', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { port } = await world(
    t,
    (request, response) => {
      response.writeHead(200, { 'content-length': '3' });
      response.write('o');
      request.on('close', closed.resolve);
    },
    S3_TIMES,
  );
  await assert.rejects(port.get(at, read('acme'), () => Promise.reject(new Error('given up'))));
  await closed.promise;
});

const away503 = {
  code: 'storage_unavailable',
  trouble: 'unreachable',
  message: /not available \(SlowDown\)/,
};
const refusedWith = (message: RegExp) => ({
  code: 'storage_unavailable',
  trouble: 'misconfigured',
  message,
});

test('what a server refuses is told from what it cannot do for now, with what to mend', async (t) => {
  let [status, code] = [0, ''];
  const { port } = await world(
    t,
    (request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
    },
    S3_TIMES,
  );
  for (const [answer, said, expected] of [
    [403, 'QuotaExceeded', { code: 'blob_quota_exhausted' }],
    [400, 'XMinioAdminBucketQuotaExceeded', { code: 'blob_quota_exhausted' }],
    [403, 'AccessDenied', refusedWith(/\(403\)\. Check AWS_ACCESS_KEY_ID/)],
    [404, 'NoSuchBucket', refusedWith(/has no such bucket \(404\)\. Create it/)],
    [301, 'PermanentRedirect', refusedWith(/another region \(301\)\. Name that region/)],
    [503, 'SlowDown', away503],
  ] as const) {
    [status, code] = [answer, said];
    await assert.rejects(CALLS.put!(port), expected, said);
  }
});
