import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollEventsResponse } from '@gantry/protocol';
import { Compile } from 'typebox/schema';
import { node, variable, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError, assertPublic } from './testing/api-test.ts';

const isPoll = Compile(PollEventsResponse);

const openApi = onePerFile(apiTest);

test('a finished run answers the same events each time, in order from 0', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const poll = await api.get(`/v1/runs/${runId}/events/poll`);
  const answer = poll.json();
  assert.ok(isPoll.Check(answer), JSON.stringify(isPoll.Errors(answer)[1]));
  for (const event of answer.events) assertPublic('run-event.schema.json', event);
  assert.deepEqual(
    answer.events.map((event: { sequence: number }) => event.sequence),
    answer.events.map((_: unknown, i: number) => i),
  );
  assert.equal(answer.events.at(-1)?.type, 'run.completed');
  assert.deepEqual(
    [answer.runStatus, answer.isTerminal, answer.isComplete, answer.lastEventSeq],
    ['completed', true, true, answer.events.length - 1],
  );
  assert.equal((await api.get(`/v1/runs/${runId}/events/poll`)).body, poll.body);
  const asJson = await api.get(`/v1/runs/${runId}/events`, { accept: 'application/json' });
  assert.equal(asJson.body, poll.body);
});

test('a cursor gives what comes after it; past the end is empty, not an error', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const all = (await api.get(`/v1/runs/${runId}/events/poll`)).json().events;
  for (const name of ['lastSequence', 'since']) {
    const { events } = (await api.get(`/v1/runs/${runId}/events/poll?${name}=1`)).json();
    assert.deepEqual(events, all.slice(2));
  }
  const past = (await api.get(`/v1/runs/${runId}/events/poll?lastSequence=999`)).json();
  assert.deepEqual([past.events, past.lastEventSeq, past.isTerminal], [[], 999, true]);
  for (const cursor of [Number.MAX_SAFE_INTEGER, '9'.repeat(30)]) {
    const far = await api.get(`/v1/runs/${runId}/events/poll?lastSequence=${cursor}`);
    assert.deepEqual([far.statusCode, far.json().events], [200, []], String(cursor));
  }
});

test('a poll waits for the next event and answers with it', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const { lastEventSeq } = (await api.get(`/v1/runs/${runId}/events`, { accept: 'application/json' })).json();
  let settled = false;
  const waiting = api
    .get(`/v1/runs/${runId}/events/poll?timeout=60&lastSequence=${lastEventSeq + 1}`)
    .finally(() => {
      settled = true;
    });
  const first = api.get(`/v1/runs/${runId}/events/poll?timeout=60&lastSequence=${lastEventSeq}`);
  await new Promise(setImmediate);
  assert.equal(settled, false);
  await api.post(`/v1/runs/${runId}/cancel`);
  for (const answer of await Promise.all([waiting, first])) {
    assert.equal(answer.statusCode, 200);
  }
  assert.ok((await first).json().events.length > 0);
});

test('a poll that saw nothing answers when its time is over', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const { lastEventSeq } = (await api.get(`/v1/runs/${runId}/events`, { accept: 'application/json' })).json();
  const answer = await api.get(`/v1/runs/${runId}/events/poll?timeout=1&lastSequence=${lastEventSeq + 10}`);
  assert.deepEqual([answer.statusCode, answer.json().events, answer.json().isTerminal], [200, [], false]);
});

test('closing the host sends waiting readers home', async (t) => {
  const api = await apiTest(t);
  const runId = await api.start('slow');
  const waiting = api.get(`/v1/runs/${runId}/events/poll?timeout=60&lastSequence=100`);
  await new Promise(setImmediate);
  await api.host.app.close();
  assert.equal((await waiting).statusCode, 200);
});

test('bad queries are refused', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  for (const query of ['timeout=0', 'timeout=61', 'timeout=1.5', 'lastSequence=-1', 'lastSequence=x']) {
    assertError(await api.get(`/v1/runs/${runId}/events/poll?${query}`), 400, 'validation_error');
  }
  assertError(await api.get('/v1/runs/absent/events/poll'), 404, 'not_found');
  assertError(await api.get('/v1/runs/%00/events/poll'), 400, 'validation_error');
});

test('what a run keeps to itself is in no event', async () => {
  const api = await openApi();
  const secret = 'sk-canary-0123456789abcdef';
  const runId = await api.start('secretive', { inputs: { token: secret, undeclared: secret } });
  await api.ended(runId);
  assert.ok(!(await api.get(`/v1/runs/${runId}/events/poll`)).body.includes(secret));
});

test('one answer holds at most 8 MB of a log; the next ones hold the rest', async (t) => {
  const nodes = Array.from({ length: 12 }, (_, index) =>
    node(`n${index}`, 'core.identity', {}, { inputs: { text: variable('text') } }),
  );
  const variables = [{ name: 'text', type: 'string' as const }];
  const api = await apiTest(t, { workflows: [workflow('big', nodes, { variables })] });
  const runId = await api.start('big', { inputs: { text: 'x'.repeat(900_000) } });
  await api.ended(runId);
  const sequences: number[] = [];
  for (let isComplete = false, answers = 0; !isComplete; answers++) {
    assert.ok(answers < 3, 'the log of 12 MB fits two answers');
    const cursor = sequences.length === 0 ? '' : `?lastSequence=${sequences.at(-1)}`;
    const answer = await api.get(`/v1/runs/${runId}/events/poll${cursor}`);
    assert.ok(Buffer.byteLength(answer.body) <= 8_000_000);
    const part = answer.json();
    isComplete = part.isComplete;
    for (const { sequence } of part.events) sequences.push(sequence);
  }
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => index),
  );
});
