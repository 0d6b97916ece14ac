/** A reader that loses its connection again and again while a model talks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { apiTest } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { TEST_KEY } from '../testing/host-process.ts';

const TEXT = Array.from({ length: 120 }, (_, at) => `word${at}`).join(' ');
/** Events of one connection: each is cut off after so many. */
const CUTS = [3, 1, 7, 2, 11];

/** Reads at most `count` events, then hangs up. */
async function readSome(url: string, after: number | undefined, count: number): Promise<RunEventDoc[]> {
  const headers: Record<string, string> = { authorization: `Bearer ${TEST_KEY}` };
  if (after !== undefined) headers['last-event-id'] = String(after);
  const hangUp = new AbortController();
  const { body, status } = await fetch(url, { headers, signal: hangUp.signal });
  assert.equal(status, 200);
  const events: RunEventDoc[] = [];
  let rest = '';
  for await (const text of body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (\{.*)$/m.exec(block)?.[1];
      if (data !== undefined && events.length < count) events.push(JSON.parse(data));
    }
    if (events.length === count) break;
  }
  hangUp.abort();
  return events;
}

test('a reader that reconnects misses nothing and hears nothing twice', async (t) => {
  const api = await apiTest(t, {
    workflows: [workflow('talk', [node('a', 'core.ai.callPrompt', { prompt: 'Go' })])],
  });
  const address = await api.host.app.listen({ port: 0, host: '127.0.0.1' });
  const ai = { provider: 'scripted', script: [{ text: TEXT, delayMs: 2 }] };
  const runId = await api.start('talk', { configurable: { ai } });
  const url = `${address}/v1/runs/${runId}/events?streamMode=debug`;
  const events: RunEventDoc[] = [];
  for (let round = 0; events.at(-1)?.type !== 'run.completed'; round++)
    events.push(...(await readSome(url, events.at(-1)?.sequence, CUTS[round % CUTS.length]!)));
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, at) => at),
  );
  const chunks = events.filter(({ type }) => type === 'output.chunk').map(({ payload }) => payload.chunk);
  assert.equal(chunks.join(''), TEXT);
  assert.ok(chunks.length > CUTS.length, `${chunks.length} chunks`);
});
