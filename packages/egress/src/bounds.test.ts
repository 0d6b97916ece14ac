import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { BoundedBytes } from './bounded-bytes.ts';
import { RESPONSE_HEADER_BYTES_MAX } from './line.ts';
import { failsWith, loopbackEgress } from './testing/egress.ts';
import { cannedServer, httpServer, rawServer } from './testing/server.ts';

const silent = () => new Promise<never>(() => {});

describe('time', () => {
  const stages: Readonly<Record<string, (socket: Socket) => void>> = {
    'no answer': () => {},
    'headers that never end': (socket) => socket.write('HTTP/1.1 200 OK\r\nx-slow: '),
    'a body that never ends': (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
  };
  for (const [stage, answer] of Object.entries(stages)) {
    test(`${stage} ends at the deadline, and so does the connection`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const [stuck, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const port = await rawServer(t, (socket) => {
        socket.once('data', () => {
          answer(socket);
          stuck.resolve();
        });
        socket.once('close', () => closed.resolve());
      });
      const work = loopbackEgress().request(`http://hook.example:${port}/`, { timeoutMs: 5000 });
      void stuck.promise.then(() => t.mock.timers.tick(5000));
      assert.equal((await failsWith(work, 'timeout')).sent, true);
      await closed.promise;
    });
  }

  test('a server that drips a byte at a time gets no extra time', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const port = await rawServer(t, (socket) => {
      const drip = (left: number) => {
        t.mock.timers.tick(1000);
        if (left > 0) socket.write('x', () => drip(left - 1));
      };
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n', () => drip(5)));
    });
    await failsWith(loopbackEgress().request(`http://hook.example:${port}/`, { timeoutMs: 5000 }), 'timeout');
  });

  test('a resolver that never answers ends at the deadline', async () => {
    const error = await failsWith(
      loopbackEgress(silent).request('http://slow.example/', { timeoutMs: 20 }),
      'timeout',
    );
    assert.equal(error.sent, false);
    const problem = await loopbackEgress(silent).check('http://slow.example/', { timeoutMs: 20 });
    assert.equal(problem?.reason, 'timeout');
  });

  test('a limit that is no limit is a mistake of the caller', async () => {
    for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31])
      await assert.rejects(loopbackEgress().request('http://hook.example/', { timeoutMs }), RangeError);
  });
});

describe('giving up', () => {
  test('before it began', async () => {
    const signal = AbortSignal.abort();
    await failsWith(loopbackEgress().request('http://hook.example/', { signal }), 'aborted');
  });

  test('while the answer is on its way', async (t) => {
    const closed = Promise.withResolvers<void>();
    const controller = new AbortController();
    const port = await httpServer(t, (request, response) => {
      request.socket.once('close', () => closed.resolve());
      response.write('part');
      controller.abort();
    });
    const work = loopbackEgress().request(`http://hook.example:${port}/`, { signal: controller.signal });
    assert.equal((await failsWith(work, 'aborted')).sent, true);
    await closed.promise;
  });
});

describe('size', () => {
  test('a body of exactly the limit passes, one byte more does not', async (t) => {
    const port = await httpServer(t, (request, response) =>
      response.end('x'.repeat(Number(request.url?.slice(1)))),
    );
    const request = (size: number) =>
      loopbackEgress().request(`http://hook.example:${port}/${size}`, { maxResponseBytes: 1000 });
    assert.equal((await request(1000)).body.byteLength, 1000);
    assert.equal((await failsWith(request(1001), 'response_too_large')).sent, true);
  });

  test('an endless body is cut off', async (t) => {
    const closed = Promise.withResolvers<void>();
    const port = await httpServer(t, (request, response) => {
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', pour);
      request.socket.once('close', () => closed.resolve());
      pour();
    });
    const work = loopbackEgress().request(`http://hook.example:${port}/`, { maxResponseBytes: 100_000 });
    await failsWith(work, 'response_too_large');
    await closed.promise;
  });

  test('a compressed body stays as it came', async (t) => {
    const port = await httpServer(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not really gzip');
    });
    const answer = await loopbackEgress().request(`http://hook.example:${port}/`);
    assert.equal(answer.body.byteLength, 15);
    assert.equal(answer.headers.get('content-encoding'), 'gzip');
  });

  test('headers beyond the limit', async (t) => {
    const port = await cannedServer(
      t,
      `HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(RESPONSE_HEADER_BYTES_MAX)}\r\n\r\n`,
    );
    await failsWith(loopbackEgress().request(`http://hook.example:${port}/`), 'response_too_large');
  });

  test('bytes are kept in order whatever the chunks', () => {
    const bytes = new BoundedBytes(10);
    for (const chunk of ['a', '', 'bcd', 'efghij']) assert.ok(bytes.add(Buffer.from(chunk)));
    assert.equal(bytes.add(Buffer.from('k')), false);
    assert.equal(Buffer.from(bytes.bytes()).toString(), 'abcdefghij');
  });
});

describe('broken servers', () => {
  const request = (port: number) => loopbackEgress().request(`http://hook.example:${port}/?SECRET`);

  test('nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const error = await failsWith(request(port), 'connect_failed');
    assert.equal(error.code, 'ECONNREFUSED');
    assert.equal(error.sent, false);
  });

  test('the connection breaks without an answer', async (t) => {
    const port = await rawServer(t, (socket) => socket.once('data', () => socket.destroy()));
    const error = await failsWith(request(port), 'connect_failed');
    assert.equal(error.sent, true);
    assert.doesNotMatch(error.message, /SECRET/);
  });

  test('the connection breaks within the body', async (t) => {
    const port = await cannedServer(t, 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc');
    assert.equal((await failsWith(request(port), 'connect_failed')).sent, true);
  });

  test('the answer is not HTTP', async (t) => {
    const port = await cannedServer(t, 'SSH-2.0-OpenSSH_9.9\r\n');
    await failsWith(request(port), 'response_invalid');
  });

  test('the answer has two lengths', async (t) => {
    const port = await cannedServer(t, 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab');
    await failsWith(request(port), 'response_invalid');
  });

  test('an unasked 101 gets no socket', async (t) => {
    const switches = [
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nraw',
      'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    ];
    for (const answer of switches)
      await failsWith(request(await cannedServer(t, answer)), 'upgrade_not_allowed');
  });

  test('early hints are passed over', async (t) => {
    const port = await cannedServer(
      t,
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    );
    assert.equal((await request(port)).status, 200);
  });
});
