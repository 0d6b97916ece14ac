/**
 * A model that says when it says it: each piece of its text is the moment at which it was sent, in milliseconds of the
 * monotonic clock, which processes of one machine share.
 *
 * node bench/bare/model-server.ts   The model `6x50` says six pieces, 50 ms apart.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Until the reader of the run is there. */
const LEAD_MS = 200;

const nowMs = (): string => (Number(process.hrtime.bigint()) / 1e6).toFixed(3);

async function say(model: string, response: ServerResponse): Promise<void> {
  const [pieces = 1, gapMs = 0] = model.split('x').map(Number);
  const tell = (more: object): boolean =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, ...more })}\n\n`,
    );
  const choose = (delta: object, finish_reason: string | null = null): boolean =>
    tell({ choices: [{ index: 0, delta, finish_reason }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  await sleep(LEAD_MS);
  for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
    if (piece > 0) await sleep(gapMs);
    choose({ content: `@${nowMs()} ` });
  }
  choose({}, 'stop');
  tell({ choices: [], usage: { prompt_tokens: 1, completion_tokens: pieces, total_tokens: pieces + 1 } });
  response.end('data: [DONE]\n\n');
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method !== 'POST') return void response.end('{}');
  await say(String(JSON.parse(body).model), response);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`a model on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
