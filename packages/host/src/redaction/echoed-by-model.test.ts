/** A model that answers with the key that it was sent. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../testing/host-process.ts';
import { afterRestart, type Echo, inSecondProcess, manyAtOnce } from './testing/echoed-run.ts';

const KEY = 'sk-echo-4Kd8Zt2mQ9wLx7Rb';

async function echoing(t: TestContext): Promise<Echo> {
  const server = createServer(async (request, response) => {
    await request.resume().toArray();
    const content = `you sent ${request.headers.authorization}`;
    const choices = [{ index: 0, delta: { content }, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ id: 'c', model: 'm', created: 1, choices })}\n\ndata: [DONE]\n\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const ai = `${folder.path}/ai.json`;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  await writeFile(ai, JSON.stringify({ endpoints: [{ id: 'lab', url, models: ['m'], credential: 'key' }] }));
  return {
    values: { key: KEY },
    audience: '127.0.0.1',
    call: `told = (await ctx.callAI({ provider: 'lab', messages: [{ role: 'user', content: 'hi' }] })).text;`,
    settings: { ai },
  };
}

test('is redacted after a restart', async (t) => afterRestart(t, await echoing(t)));

test('is redacted in another process', async (t) => inSecondProcess(t, await echoing(t)));

test('is marked for each of many runs at once', async (t) => manyAtOnce(t, await echoing(t), 12));
