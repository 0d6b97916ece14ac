/** A server whose answers a test writes itself. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RawServer {
  readonly origin: string;
  /** How many requests came. */
  readonly asked: number;
  close(): Promise<void>;
}

export type RawAnswer = (
  response: ServerResponse,
  asked: { readonly path: string; readonly body: string },
) => unknown;

/** What an answer throws ends its connection. */
export async function startRawServer(answer: RawAnswer): Promise<RawServer> {
  let asked = 0;
  const server = createServer(async (request, response) => {
    asked++;
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      await answer(response, { path: request.url ?? '/', body: Buffer.concat(chunks).toString('utf8') });
    } catch {
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get asked() {
      return asked;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
