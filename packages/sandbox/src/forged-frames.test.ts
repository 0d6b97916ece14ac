/** A child that speaks for itself instead of our runner: the host believes nothing and ends it. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { frameMemory } from './frame-reader.ts';
import { Job } from './job.ts';
import { PackProcess } from './pack-process.ts';
import { egress, invocationOf, MIB, packOf, scratchFolder } from './testing/sandbox.ts';

const WIRE = new URL('./runner/wire.mjs', import.meta.url).href;

/** `say(message)` sends a frame, `raw(bytes)` anything at all; `id` is the one id that was issued. */
const impostor = (body: string): string => `
  import { readSync, writeSync } from 'node:fs';
  import { Decoder, encode } from '${WIRE}';
  const raw = (bytes) => { for (let at = 0; at < bytes.length; ) at += writeSync(4, bytes, at); };
  const say = (message) => encode(message).forEach(raw);
  const decoder = new Decoder();
  const chunk = new Uint8Array(65536);
  const hear = () => { for (;;) { const [frame] = decoder.push(chunk.slice(0, readSync(3, chunk))); if (frame) return frame.message; } };
  hear(); say({ type: 'ready', typeIds: ['test.node'] });
  const { id } = hear();
  ${body}
  setInterval(() => {}, 1000);`;

async function endOf(body: string, meanwhile?: () => void) {
  const file = path.join(await scratchFolder(), 'main.mjs');
  await writeFile(file, impostor(body));
  const child = new PackProcess({
    command: { file: process.execPath, args: [file], folder: '/', release: () => {} },
    open: { type: 'open' },
    memoryBytes: 256 * MIB,
    loadMs: 20_000,
    grants: [],
    environment: {},
    onLate: () => {},
    onEnd: () => {},
    context: { egress, tenant: 'acme', filesFolder: '/nowhere', fault: () => {} },
  });
  assert.equal((await child.opened).loaded, true);
  const job = new Job(
    invocationOf(await packOf(''), {
      surfaces: { echo: 'unary', hidden: 'denied' },
      call: async (method) => {
        if (method === 'hidden') throw new OpenwopError('sandbox_capability_denied');
        return new Promise(() => {});
      },
    }),
    0,
  );
  child.start(job);
  meanwhile?.();
  const end = await job.ended;
  child.kill();
  await child.ended;
  return end;
}

const codeOf = async (body: string): Promise<string> => {
  const end = await endOf(body);
  return end.kind === 'stopped' ? end.error.code : end.kind;
};

const FORGED: Readonly<Record<string, string>> = {
  'a result for an id that was not issued': `say({ type: 'result', id: 'AAAAAAAAAAAAAAAA', end: { kind: 'returned' } });`,
  'a result without an id': `say({ type: 'result', end: { kind: 'returned' } });`,
  'a result for a prototype name': `say({ type: 'result', id: '__proto__', end: {} });`,
  'a message of an unknown type': `say({ type: 'shutdown', id });`,
  'no object': 'say([1, 2]);',
  'an answer to a ping that nobody sent': `say({ type: 'pong', token: 'x' });`,
  'an acknowledgement of nothing': `say({ type: 'ack', id, call: 0 });`,
  'a call out of order': `say({ type: 'call', mode: 'async', id, call: 7, method: 'echo', args: [] });`,
  'a call without arguments': `say({ type: 'call', mode: 'async', id, call: 0, method: 'echo' });`,
  'a method that was not offered': `say({ type: 'call', mode: 'async', id, call: 0, method: 'storage.kv.get', args: [] });`,
  'a primitive that was not granted': `say({ type: 'call', mode: 'async', id, call: 0, method: 'net.fetch', args: ['http://127.0.0.1/'] });`,
  'a primitive outside of an invocation': `say({ type: 'call', mode: 'sync', id: null, call: 0, method: 'env.read', args: ['PATH'] });`,
  'files outside of an invocation': `say({ type: 'call', mode: 'sync', id: null, call: 0, method: 'file.readFile', args: ['x'] });`,
  'more calls than there is credit for': `for (let call = 0; ; call++) say({ type: 'call', mode: 'async', id, call, method: 'echo', args: ['x'.repeat(100000)] });`,
  'blocking calls that do not block': `for (let call = 0; call < 2; call++) say({ type: 'call', mode: 'sync', id, call, method: 'echo', args: [] });`,
  'an unsent call out of order': `say({ type: 'unsent', mode: 'async', id, call: 3, method: 'echo' });`,
  'a frame that is too long': 'raw(new Uint8Array([255, 255, 255, 255, 0, 0, 0, 1]));',
  'JSON that is too long': 'raw(new Uint8Array([1, 0, 0, 1, 1, 0, 0, 1]));',
  'a frame that is no JSON': 'raw(new Uint8Array([0, 0, 0, 2, 0, 0, 0, 2, 123, 123]));',
  'a text longer than its frame': 'raw(new Uint8Array([0, 0, 0, 2, 0, 0, 0, 9, 123, 125]));',
  'more values than a frame may have': `raw(new Uint8Array([0, 30, 132, 134, 0, 30, 132, 134])); raw(Buffer.from('[[' + '0,'.repeat(999999) + '0],[]]'));`,
  'a log entry that is too large': `say({ type: 'log', id, level: 'info', message: 'x'.repeat(70000) });`,
  'an event that is too large': `say({ type: 'emit', id, call: 0, value: 'x'.repeat(70000) });`,
  'a second ready': `say({ type: 'ready', typeIds: ['test.node'] });`,
  'a ready without end': `for (;;) say({ type: 'ready', typeIds: [] });`,
  'more answers to pings than were sent': `for (;;) say({ type: 'pong', token: 'x' });`,
  'a method with a very long name': `say({ type: 'call', mode: 'async', id, call: 0, method: 'x'.repeat(1e6), args: [] });`,
  noise: 'for (;;) raw(crypto.getRandomValues(new Uint8Array(65536)));',
};

for (const [name, body] of Object.entries(FORGED))
  test(`${name} ends the child`, async () => {
    assert.equal(await codeOf(body), 'sandbox_escape_attempt');
  });

test('a child that only sends its result is believed', async () => {
  assert.equal(
    await codeOf(`say({ type: 'result', id, end: { kind: 'returned', value: {} }, variables: {} });`),
    'settled',
  );
});

test('a call of a member that is denied gets the refusal of the host', async () => {
  const end = await endOf(`
    say({ type: 'call', mode: 'async', id, call: 0, method: 'hidden', args: [] });
    let heard;
    do heard = hear(); while (heard.type !== 'answer');
    say({ type: 'result', id, end: { kind: 'returned', value: heard.error }, variables: {} });`);
  assert.match(JSON.stringify(end), /"code":"sandbox_capability_denied"/);
});

const LONG = `'x'.repeat(4e6)`;
const ERROR = `{ message: ${LONG}, capability: ${LONG}, code: ${LONG}, details: { text: ${LONG}, list: Array(1e5).fill('y') } }`;

/** What the host tells of them goes into events and logs. */
for (const [name, body] of Object.entries({
  'a crash': `say({ type: 'crash', error: ${ERROR} });`,
  'a violation': `say({ type: 'violation', id, what: ${LONG}, escapeKind: ${LONG} });`,
  'a call that was never offered': `say({ type: 'call', mode: 'async', id, call: 0, method: ${LONG}, args: [] });`,
  'a thrown error': `say({ type: 'result', id, end: { kind: 'thrown', error: ${ERROR.replaceAll('4e6', '2e5')} }, variables: {} });`,
}))
  test(`${name} with very long texts is told in short`, async () => {
    const end = await endOf(body);
    assert.ok(JSON.stringify(end).length < 100_000, `${JSON.stringify(end).length} characters`);
  });

test('a frame that is announced and does not arrive gives its memory back', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const announced = 'raw(new Uint8Array([2, 0, 0, 0, 0, 0, 0, 2]));';
  const wait = async (): Promise<void> => {
    while (frameMemory.stats().held === 0) await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(9_999);
    assert.equal(frameMemory.stats().held, 0x2000000);
    t.mock.timers.tick(1);
    assert.equal(frameMemory.stats().held, 0);
  };
  let waited: Promise<void> | undefined;
  const end = await endOf(announced, () => {
    waited = wait();
  });
  await waited;
  assert.match(end.kind === 'stopped' ? end.error.message : '', /did not arrive within 10000 ms/);
});
