import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { terminalInput } from './terminal.ts';

function typed(keys: string) {
  const input = new PassThrough();
  const stopping = new AbortController();
  const interrupt = () => stopping.abort(new Error('interrupted'));
  const { ask } = terminalInput({ input, output: new PassThrough().resume(), interrupt });
  const answer = ask('> ', stopping.signal);
  input.write(keys);
  return { answer, stopping };
}

test('a line, the end of input, Ctrl-C and a question that is taken back', async () => {
  assert.equal(await typed('yes\r').answer, 'yes');
  assert.equal(await typed('no\x7fw\r').answer, 'nw');
  assert.equal(await typed('\x04').answer, undefined);
  await assert.rejects(typed('half a line\x03').answer, /interrupted/);
  const { answer, stopping } = typed('half');
  stopping.abort(new Error('answered elsewhere'));
  await assert.rejects(answer, /answered elsewhere/);
});
