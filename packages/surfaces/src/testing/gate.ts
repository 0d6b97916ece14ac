/** Stands between a client and its server, so that a test can take the server away and give it back. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './servers.ts';

export interface Gate {
  readonly port: number;
  /** Connections end and new ones are refused. */
  shut(): Promise<void>;
  reopen(): Promise<void>;
  /** Nothing passes from now on. Connections stay, and new ones are accepted. */
  hush(): void;
  /** Hushes as soon as `text` has passed to the server; resolves then. */
  hushAfter(text: string): Promise<void>;
  /** New connections pass again; what was hushed stays so. */
  speak(): void;
  close(): Promise<void>;
}

export async function openGate(target: { readonly host: string; readonly port: number }): Promise<Gate> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  let onText: ((bytes: Buffer) => void) | undefined;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  };
  const server = createServer((socket) => {
    if (isSilent) return void track(socket).pause();
    const onward = track(connect(target));
    track(socket).pipe(onward).pipe(socket);
    // After the pipe has it, so that the server gets it
    socket.on('data', (bytes) => onText?.(Buffer.from(bytes)));
  });
  const hush = (): void => {
    isSilent = true;
    for (const socket of sockets) socket.unpipe().pause();
  };
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
    hush,
    hushAfter: (text) =>
      new Promise((resolve) => {
        onText = (bytes) => {
          if (!bytes.includes(text)) return;
          onText = undefined;
          hush();
          resolve();
        };
      }),
    speak() {
      isSilent = false;
    },
  };
}
