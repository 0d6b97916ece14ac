import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EgressError, type EgressReason } from './error.ts';
import { type OutgoingOptions, outgoing, REQUEST_BYTES_MAX, REQUEST_HEADER_BYTES_MAX } from './outgoing.ts';
import { failsWith, fakeLookup, loopbackEgress } from './testing/egress.ts';

function refusal(options: OutgoingOptions): EgressReason | undefined {
  try {
    outgoing(options);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof EgressError);
    assert.equal(error.sent, false);
    return error.reason;
  }
}

test('headers that frame or route the message belong to the client', () => {
  const owned = ['Host', 'content-length', 'Transfer-Encoding', 'TE', 'Trailer', 'Keep-Alive', 'Expect'];
  for (const name of [...owned, 'Proxy-Authorization', 'proxy-connection', 'Accept-Encoding'])
    assert.equal(refusal({ headers: { [name]: 'x' } }), 'request_not_allowed', name);
  assert.equal(refusal({ headers: { connection: 'keep-alive' } }), 'request_not_allowed');
});

test('nothing asks for another protocol', () => {
  const asking = [
    { Upgrade: 'websocket' },
    { Connection: 'Upgrade' },
    { connection: 'keep-alive, upgrade' },
    { 'HTTP2-Settings': 'AAMAAABk' },
    { 'Sec-WebSocket-Key': 'x' },
  ];
  for (const headers of asking) assert.equal(refusal({ headers }), 'upgrade_not_allowed');
  assert.equal(refusal({ method: 'CONNECT' }), 'upgrade_not_allowed');
});

test('headers cannot smuggle lines or names', () => {
  const values = ['a\r\nhost: evil', 'a\nb', 'a\rb', 'a\0b', 'snow ☃', '\x7f'];
  for (const value of values) assert.equal(refusal({ headers: { 'x-a': value } }), 'request_not_allowed');
  for (const name of ['', 'x y', 'x:y', 'x\r\ny', 'ü'])
    assert.equal(refusal({ headers: { [name]: 'v' } }), 'request_not_allowed');
  assert.equal(refusal({ headers: { 'X-A': '1', 'x-a': '2' } }), 'request_not_allowed');
});

test('methods are the usual ones, in their spelling', () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    assert.equal(refusal({ method }), undefined);
  for (const method of ['TRACE', 'get', 'GET /evil', '', 'PRI'])
    assert.equal(refusal({ method }), 'request_not_allowed');
  assert.equal(refusal({ method: 'GET', body: 'x' }), 'request_not_allowed');
});

test('sizes have limits', () => {
  const body = new Uint8Array(REQUEST_BYTES_MAX);
  assert.equal(refusal({ method: 'POST', body }), undefined);
  assert.equal(
    refusal({ method: 'POST', body: new Uint8Array(REQUEST_BYTES_MAX + 1) }),
    'request_not_allowed',
  );
  const headers = { 'x-a': 'x'.repeat(REQUEST_HEADER_BYTES_MAX) };
  assert.equal(refusal({ headers }), 'request_not_allowed');
});

test('a request that may not be sent does not even ask for the name', async () => {
  const lookup = fakeLookup({});
  const work = loopbackEgress(lookup).request('http://hook.example/', { headers: { upgrade: 'h2c' } });
  await failsWith(work, 'upgrade_not_allowed');
  assert.deepEqual(lookup.asked, []);
});
