import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScriptTurn } from '../scripted/script.ts';
import { outcomeOf, reachOf, requestOf } from '../testing/asking.ts';
import { DIALECTS } from '../testing/dialects.ts';
import { startRawServer } from '../testing/raw-server.ts';
import { AnswerEvents, EVENT_CHARS_MAX } from './answer-events.ts';
import { loadFamily } from './families.ts';

const usage = { inputTokens: 12, outputTokens: 9 };
const SAID: ScriptTurn = { text: 'All of it.', usage };
const LATE: ScriptTurn = { text: ' LATE', finish: 'length', usage: { inputTokens: 1, outputTokens: 1 } };

for (const { dialect, family: name } of DIALECTS) {
  const ask = async (frames: readonly string[], ends = true) => {
    const server = await startRawServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(frames.join(''));
      if (ends) response.end();
    });
    const { chat } = await loadFamily(name);
    const outcome = await outcomeOf(chat, requestOf(), reachOf(`${server.origin}${dialect.base}`));
    await server.close();
    return outcome;
  };

  test(`${dialect.name}: what comes after the end of an answer is not part of it`, async () => {
    const frames = dialect.frames(SAID, 'm');
    const late = dialect.frames(LATE, 'm');
    const honest = await ask(frames);
    assert.deepEqual([honest.text, honest.finish, honest.usage], ['All of it.', 'stop', usage]);
    assert.deepEqual(await ask([...frames, ...late]), honest, 'after the last event');
    const content = frames.findIndex((frame) => /stop_reason":"|finish_?reason":"|\.completed/i.test(frame));
    const within = [...frames.slice(0, content + 1), ...late.slice(1), ...frames.slice(content + 1)];
    const { text, finish } = await ask(within);
    assert.deepEqual([text, finish], ['All of it.', 'stop'], 'after the content');
  });

  test(`${dialect.name}: an answer is complete though its connection stays open`, async () => {
    const { text, failure } = await ask(dialect.frames(SAID, 'm'), false);
    assert.deepEqual([text, failure], ['All of it.', undefined]);
  });
}

const end = { mark: /end/, endOf: () => undefined };

test('events are found however lines end and packets are cut', () => {
  const text =
    ': hello\r\ndata: {"a":\r\ndata:  1}\r\rdata:[DONE\n\nevent: x\nid: 7\ndata: last\n\ndata: cut off';
  const whole = ['data: {"a":\ndata:  1}\n\n', 'data: [DONE\n\n', 'data: last\n\n'];
  for (const size of [1, 2, 3, 7, text.length]) {
    const events = new AnswerEvents(end);
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    assert.deepEqual(
      pieces.flatMap((piece) => events.push(piece)),
      whole,
      `pieces of ${size}`,
    );
  }
});

test('an event is never larger than its limit, in one line or in many', () => {
  const part = 'x'.repeat(64 * 1024);
  for (const piece of [part, `data: ${part}\n`]) {
    const events = new AnswerEvents(end);
    const pushAll = () => {
      for (let sent = 0; sent <= EVENT_CHARS_MAX; sent += part.length) events.push(piece);
    };
    assert.throws(pushAll, { kind: 'broken' });
  }
});
