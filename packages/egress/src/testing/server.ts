import { once } from 'node:events';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createNet, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

async function listen(t: TestContext, server: Server, address: string): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  server.listen(0, address);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers its port; the server ends with the test. */
export const httpServer = (t: TestContext, handler: RequestListener, address = '127.0.0.1') =>
  listen(t, createHttp(handler), address);

export const httpsServer = (t: TestContext, options: ServerOptions, handler: RequestListener) =>
  listen(t, createHttps(options, handler), '127.0.0.1');

/** For answers that a proper HTTP server would never give. */
export const rawServer = (t: TestContext, handler: (socket: Socket) => void) =>
  listen(t, createNet(handler), '127.0.0.1');

/** Answers every request with these bytes. */
export const cannedServer = (t: TestContext, bytes: string) =>
  rawServer(t, (socket) => socket.once('data', () => socket.end(bytes, 'latin1')));
