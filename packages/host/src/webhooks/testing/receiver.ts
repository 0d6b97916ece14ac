/** A receiver of webhooks on loopback. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { readAllowList } from '@gantry/egress';

/** For hosts that are started before their receivers. */
export const LOCAL_RECEIVERS = readAllowList('webhook=http://127.0.0.1:*');

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves when that many requests have come in. */
  got(count: number): Promise<readonly Received[]>;
}

/** Answers 204, unless told otherwise. */
export async function receiver(
  t: TestContext,
  answer: (response: ServerResponse, index: number) => void = (response) =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const arrivals = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    answer(response, received.length - 1);
    for (const arrived of [...arrivals]) arrived();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    async got(count) {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          const arrived = () => {
            arrivals.delete(arrived);
            resolve();
          };
          arrivals.add(arrived);
        });
      }
      return received;
    },
  };
}

export const status =
  (code: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(code).end();
