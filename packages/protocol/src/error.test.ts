import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Check } from 'typebox/schema';
import {
  ERRORS,
  type ErrorCode,
  type ErrorEntry,
  ErrorEnvelope,
  errorEnvelope,
  OpenwopError,
} from './error.ts';
import { publicValidator, skipWithoutPublicData } from './testing/public-schemas.ts';

const codes = Object.keys(ERRORS) as ErrorCode[];

describe('error catalogue', () => {
  for (const [code, entry] of Object.entries<ErrorEntry>(ERRORS)) {
    test(`${code} has a valid status and says what happened and what to do`, () => {
      const { status, retriable, message, next } = entry;
      assert.ok(status === 0 || (Number.isInteger(status) && status >= 400 && status <= 599), `${status}`);
      assert.equal(typeof retriable, 'boolean');
      assert.match(message, /^[A-Z].{8,}/);
      assert.match(next, /^[A-Z].{8,}[.]$/);
    });
  }

  test('keeps the statuses that the protocol fixes', () => {
    const fixed: Partial<Record<ErrorCode, number>> = {
      unauthenticated: 401,
      key_expired: 401,
      key_revoked: 401,
      forbidden: 403,
      validation_error: 400,
      not_found: 404,
      conflict: 409,
      run_already_active: 409,
      idempotency_key_mismatch: 409,
      idempotency_in_flight: 409,
      rate_limited: 429,
      service_unavailable: 503,
      storage_unavailable: 503,
      unsupported_stream_mode: 400,
      capability_not_provided: 501,
      mock_provider_forbidden: 403,
      unsupported_mock_provider: 400,
      interrupt_not_found: 404,
      interrupt_expired: 410,
      interrupt_already_resolved: 409,
      workspace_too_large: 413,
      internal_error: 500,
    };
    for (const code of codes) assert.equal(ERRORS[code].status, fixed[code] ?? ERRORS[code].status, code);
  });
});

describe('error envelope', () => {
  test('carries code, message, details and whether trying again can help', () => {
    const error = new OpenwopError('idempotency_in_flight', { details: { retryAfter: 2 } });
    assert.deepEqual(errorEnvelope(error), {
      error: 'idempotency_in_flight',
      message: error.message,
      details: { retriable: true, retryAfter: 2 },
    });
    assert.match(error.message, /still being worked on.*Try again/);
  });

  test('lets the thrower know better about trying again', () => {
    const error = new OpenwopError('runner_unavailable', { details: { retriable: false } });
    assert.equal(errorEnvelope(error).details?.retriable, false);
  });

  test('a run-level code that escapes to HTTP is a server error', () => {
    assert.equal(new OpenwopError('run_timeout').status, 500);
    assert.equal(new OpenwopError('not_found').status, 404);
  });

  test('every code makes a valid envelope', { skip: skipWithoutPublicData }, () => {
    const validate = publicValidator('error-envelope.schema.json');
    for (const code of codes) {
      const envelope = errorEnvelope(new OpenwopError(code));
      assert.deepEqual(validate?.(envelope), [], code);
      assert.ok(Check(ErrorEnvelope, envelope), code);
    }
  });

  test('is closed', () => {
    assert.equal(Check(ErrorEnvelope, { error: 'not_found', message: 'No.', runId: 'x' }), false);
    assert.equal(Check(ErrorEnvelope, { error: 'not_found', message: '' }), false);
  });
});
