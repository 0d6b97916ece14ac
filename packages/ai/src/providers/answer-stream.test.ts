import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { outcomeOf, reachOf, requestOf } from '../testing/asking.ts';
import { openStream } from '../testing/dialect.ts';
import { DIALECTS } from '../testing/dialects.ts';
import { startRawServer } from '../testing/raw-server.ts';
import { loadFamily } from './families.ts';

const SILENCE_MS = 150;
const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

async function repeat(response: ServerResponse, piece: string, first = ''): Promise<void> {
  begin(response);
  response.write(first);
  for (; !response.destroyed; await delay(10)) response.write(piece);
}

for (const { dialect, family: name } of DIALECTS) {
  const { begin: first } = openStream(dialect, '');
  const silences = {
    'sends no head': () => {},
    'sends a head and nothing else': (response: ServerResponse) => begin(response).flushHeaders(),
    'sends comments': (response: ServerResponse) => repeat(response, ': still here\n\n'),
    'sends empty pieces': (response: ServerResponse) =>
      repeat(response, openStream(dialect, '').piece, first),
    'sends one byte at a time': (response: ServerResponse) => repeat(response, 'x'),
  };

  const ask = async (answer: (response: ServerResponse) => unknown) => {
    const server = await startRawServer(answer);
    const { chat } = await loadFamily(name);
    const reach = reachOf(`${server.origin}${dialect.base}`, { silenceMs: SILENCE_MS });
    const outcome = await outcomeOf(chat, requestOf(), reach);
    await server.close();
    return outcome;
  };

  for (const [what, answer] of Object.entries(silences))
    test(`${dialect.name}: a provider that ${what} is not waited for`, async () => {
      const { failure, text } = await ask(answer);
      assert.deepEqual([failure?.kind, text], ['broken', '']);
    });

  test(`${dialect.name}: a provider that sends far more than it was asked for is cut off`, async () => {
    const { piece } = openStream(dialect, 'x'.repeat(10_000));
    const { failure, text } = await ask((response) => repeat(response, piece, first));
    assert.equal(failure?.kind, 'broken');
    assert.ok(text.length <= 256 * 1024, `${text.length} characters`);
  });
}
