import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endResult, returnedResult } from './result.ts';

const success = (outputs: object) => ({ status: 'success', outputs });

test('every form that packs return', () => {
  assert.deepEqual(returnedResult({ status: 'success', outputs: { a: 1 } }), success({ a: 1 }));
  assert.deepEqual(returnedResult({ outputs: { a: 1 } }), success({ a: 1 }));
  assert.deepEqual(returnedResult({ a: 1 }), success({ a: 1 }));
  assert.deepEqual(returnedResult({ status: 200, body: 'x' }), success({ status: 200, body: 'x' }));
  assert.deepEqual(returnedResult({ status: 'success', a: 1 }), success({ a: 1 }));
  assert.deepEqual(returnedResult(undefined), success({}));
  assert.deepEqual(returnedResult('text'), success({ result: 'text' }));
  assert.deepEqual(returnedResult({ status: 'terminate', request: { code: 'x' } }), {
    status: 'terminate',
    request: { code: 'x' },
  });
});

test('errors keep their code, and retry only when they say so', () => {
  const error = { code: 'HOST_CAPABILITY_MISSING', message: 'no', retryable: true };
  assert.deepEqual(returnedResult({ status: 'error', error }), { status: 'error', origin: 'pack', error });
  assert.deepEqual(returnedResult({ status: 'failure', error: { message: 'x' } }), {
    status: 'error',
    origin: 'pack',
    error: { code: 'sandbox_invocation_error', message: 'x', retryable: false },
  });
  assert.deepEqual(endResult({ kind: 'thrown', error: { message: 'x', code: 'a\nb', capability: 'kv' } }), {
    status: 'error',
    origin: 'pack',
    error: {
      code: 'sandbox_invocation_error',
      message: 'x',
      retryable: false,
      details: { capability: 'kv' },
    },
  });
});

test('what makes no sense is an error, not a crash', () => {
  for (const end of [undefined, null, 1, [], { kind: 'other' }]) assert.equal(endResult(end).status, 'error');
});

test('no code makes what a pack says a word of the host; its runner alone sees the heap used up', () => {
  const originOf = (result: ReturnType<typeof endResult>) => result.status === 'error' && result.origin;
  for (const code of ['sandbox_timeout', 'sandbox_invocation_error', 'effect_in_doubt', 'internal_error']) {
    assert.equal(originOf(endResult({ kind: 'thrown', error: { code, origin: 'process' } })), 'pack');
    assert.equal(originOf(returnedResult({ status: 'error', error: { code, origin: 'host' } })), 'pack');
  }
  const error = { code: 'sandbox_memory_exceeded' };
  assert.equal(originOf(returnedResult({ status: 'error', error })), 'pack');
  assert.equal(originOf(endResult({ kind: 'thrown', error })), 'host');
});
