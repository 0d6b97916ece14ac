/** Stands between a client and its server, so that a test can take the server away and give it back. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './servers.ts';

export interface Gate {
  readonly port: number;
  /** Connections end and new ones are refused. */
  shut(): Promise<void>;
  reopen(): Promise<void>;
  /** Connections stay, and nothing passes. */
  hush(): void;
  close(): Promise<void>;
}

export async function openGate(target: { readonly host: string; readonly port: number }): Promise<Gate> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  };
  const server = createServer((socket) => {
    track(socket)
      .pipe(track(connect(target)))
      .pipe(socket);
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no loopback port');
    return address.port;
  };
  const shut = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  const port = await listen(await freePort());
  return {
    port,
    shut,
    close: shut,
    reopen: async () => void (await listen(port)),
    hush() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
