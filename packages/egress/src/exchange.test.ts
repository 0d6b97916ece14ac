import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import * as undici from 'undici';
import { EgressError, egressProblem } from './error.ts';
import { exchange } from './exchange.ts';
import { Line } from './line.ts';
import { outgoing } from './outgoing.ts';
import { failsWith } from './testing/egress.ts';
import { rawServer } from './testing/server.ts';

/** A connection to a server that sends half of its answer and stays silent. */
async function halfAnswer(t: TestContext) {
  let connections = 0;
  const port = await rawServer(t, (socket) => {
    connections += 1;
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
  });
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const url = new URL(`http://hook.example:${port}/`);
  const line = new Line(undici, url.origin, { socket, address: '127.0.0.1' });
  const silence = { begin: () => {}, end: () => {} };
  const ended = (_line: Line, isWhole: boolean) => assert.equal(isWhole, false);
  const terms = { silence, ended, bytesMax: 100 };
  const send = (signal: AbortSignal) => exchange(undici, line, { url }, outgoing({}), { ...terms, signal });
  return { socket, send, connections: () => connections };
}

test('an interruption ends the reading of a body and its connection', async (t) => {
  const { socket, send } = await halfAnswer(t);
  const controller = new AbortController();
  const answer = await send(controller.signal);
  const closed = once(socket, 'close');
  const reading = failsWith(answer.read(), 'timeout');
  controller.abort(new EgressError(egressProblem('timeout', 'Too late.')));
  await reading;
  await closed;
});

test('an answer that nobody wants is closed unread', async (t) => {
  const { socket, send } = await halfAnswer(t);
  const answer = await send(new AbortController().signal);
  const closed = once(socket, 'close');
  answer.close();
  await closed;
});

test('a lost connection is not replaced by another', async (t) => {
  const { socket, send, connections } = await halfAnswer(t);
  socket.destroy();
  await failsWith(send(new AbortController().signal), 'connect_failed');
  assert.equal(connections(), 1);
});
