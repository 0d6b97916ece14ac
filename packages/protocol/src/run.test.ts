import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { DebugBundle } from './debug-bundle.ts';
import { OpenwopError } from './error.ts';
import { PollEventsResponse } from './event.ts';
import { CreateRunRequest, RunSnapshot } from './run.ts';
import {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRunRequest,
  PauseRunRequest,
  ResumeRunRequest,
} from './run-control.ts';
import { checkRunOptions } from './run-options.ts';
import { publicValidator, skipWithoutPublicData } from './testing/public-schemas.ts';
import { debugBundle, snapshot } from './testing/samples.ts';

const createRun = Compile(CreateRunRequest);
const workflowId = 'invoice';

function refusal(request: CreateRunRequest): OpenwopError {
  try {
    checkRunOptions(request);
  } catch (error) {
    assert.ok(error instanceof OpenwopError);
    return error;
  }
  return assert.fail('it was accepted');
}

describe('run documents', { skip: skipWithoutPublicData }, () => {
  test('a snapshot is valid under ours and the public schema', () => {
    assert.deepEqual([...Compile(RunSnapshot).Errors(snapshot)[1]], []);
    assert.deepEqual(publicValidator('run-snapshot.schema.json')?.(snapshot), []);
  });

  test('a debug bundle is valid under ours and the public schema', () => {
    assert.deepEqual([...Compile(DebugBundle).Errors(debugBundle)[1]], []);
    assert.deepEqual(publicValidator('debug-bundle.schema.json')?.(debugBundle), []);
  });
});

describe('request bodies', () => {
  const CLOSED = {
    create: [Compile(CreateRunRequest), { workflowId }],
    cancel: [Compile(CancelRunRequest), {}],
    'bulk cancel': [Compile(BulkCancelRequest), { runIds: ['run_x'] }],
    pause: [Compile(PauseRunRequest), { reason: 'lunch', drainPolicy: 'immediate' }],
    resume: [Compile(ResumeRunRequest), { reason: 'back' }],
  } as const;

  for (const [name, [schema, body]] of Object.entries(CLOSED)) {
    test(`${name} is closed`, () => {
      assert.deepEqual([...schema.Errors(body)[1]], []);
      assert.equal(schema.Check({ ...body, gantryUnknown: 1 }), false);
    });
  }

  test('bulk cancel takes 1 to 100 runs', () => {
    const schema = Compile(BulkCancelRequest);
    const runIds = (count: number) => ({
      runIds: Array.from({ length: count }, (_, index) => `run_${index}`),
    });
    assert.deepEqual(
      [0, 1, 100, 101].map((count) => schema.Check(runIds(count))),
      [false, true, true, false],
    );
  });

  test('create bounds its tags, ids and callback', () => {
    assert.ok(createRun.Check({ workflowId, tags: Array(100).fill('x'.repeat(256)) }));
    assert.ok(!createRun.Check({ workflowId, tags: Array(101).fill('x') }));
    assert.ok(!createRun.Check({ workflowId, tags: ['x'.repeat(257)] }));
    assert.ok(!createRun.Check({ workflowId: 'x'.repeat(129) }));
    assert.ok(createRun.Check({ workflowId, callbackUrl: 'https://example.com/hook' }));
    assert.ok(!createRun.Check({ workflowId, callbackUrl: 'not a url' }));
  });
});

test('poll and bulk-cancel answers', () => {
  const poll = {
    runId: 'run_x',
    events: [],
    lastEventSeq: -1,
    runStatus: 'pending',
    isTerminal: false,
    isComplete: false,
  };
  assert.ok(Compile(PollEventsResponse).Check(poll));
  assert.ok(!Compile(PollEventsResponse).Check({ ...poll, runStatus: 'gone' }));
  const error = { error: 'run_terminal', code: 'run_terminal', message: 'The run has already ended.' };
  const answer = Compile(BulkCancelResponse);
  assert.ok(
    answer.Check({
      results: [
        { runId: 'a', ok: true, status: 'cancelled' },
        { runId: 'b', ok: false, error },
      ],
    }),
  );
  assert.ok(!answer.Check({ results: [{ runId: 'a', ok: false, status: 'cancelled' }] }));
});

describe('run options', () => {
  test('accepts what the protocol allows, vendor keys included', () => {
    checkRunOptions({ workflowId });
    const promptOverrides = { greeting: 'Hi' };
    const reserved = {
      recursionLimit: 1,
      runTimeoutMs: 1000,
      temperature: 0,
      maxTokens: 1,
      model: 'm',
      promptOverrides,
    };
    checkRunOptions({ workflowId, configurable: { ...reserved, 'acme.flag': [{ any: 'thing' }] } });
    checkRunOptions({ workflowId, metadata: { a: { b: { c: { d: 'text' } } } } });
  });

  const BAD: Record<string, unknown[]> = {
    recursionLimit: [0, -1, 1.5, '5', null],
    runTimeoutMs: [0, 0.5, '1000', {}],
    temperature: [-0.1, 2.1, 'hot'],
    maxTokens: [0, 2.5],
    model: ['', 5],
    promptOverrides: ['x', ['x'], { greeting: 1 }],
    budget: [null, [], { maxToken: 1 }, { maxTokens: 0 }, { modelAllow: new Array(300_000).fill(1) }],
    ai: [null, 'openai', { providr: 'a' }, { provider: 5 }, { credentialref: 'k' }, { price: { inptu: 1 } }],
  };
  for (const [key, values] of Object.entries(BAD)) {
    test(`refuses a bad ${key} and names it`, () => {
      for (const value of values) {
        const error = refusal({ workflowId, configurable: { [key]: value } });
        assert.equal(error.code, 'validation_error');
        assert.equal(error.details?.key, `configurable.${key}`);
      }
    });
  }

  test('tells the bounds and the number, and repeats no text', () => {
    const details = { key: 'configurable.temperature', type: 'number', min: 0, max: 2 };
    assert.deepEqual(refusal({ workflowId, configurable: { temperature: 3 } }).details, {
      ...details,
      value: 3,
    });
    assert.deepEqual(refusal({ workflowId, configurable: { temperature: 'sk-secret' } }).details, details);
  });

  test('has no mock providers and no evaluation mode', () => {
    const mock = refusal({ workflowId, configurable: { mockProvider: { id: 'stream-text' } } });
    assert.equal(mock.code, 'unsupported_mock_provider');
    assert.deepEqual(mock.details, { requestedProvider: 'stream-text', supportedProviders: [] });
    assert.equal(
      refusal({ workflowId, configurable: { mockProvider: null } }).code,
      'unsupported_mock_provider',
    );
    assert.equal(refusal({ workflowId, mode: 'eval' }).code, 'capability_not_provided');
  });

  test('metadata is at most 4 levels deep, arrays included', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        (depth, arrays) => {
          let value: unknown = 1;
          for (let level = 1; level < depth; level++) value = arrays[level] ? [value] : { x: value };
          const request = { workflowId, metadata: { value } };
          if (depth <= 4) return checkRunOptions(request);
          assert.deepEqual(refusal(request).details, { key: 'metadata', limit: 'depth', max: 4 });
        },
      ),
    );
  });

  test('metadata is at most 8192 bytes of UTF-8', () => {
    const empty = JSON.stringify({ text: '' }).length;
    checkRunOptions({ workflowId, metadata: { text: 'x'.repeat(8192 - empty) } });
    assert.equal(refusal({ workflowId, metadata: { text: 'x'.repeat(8193 - empty) } }).details?.value, 8193);
    assert.equal(refusal({ workflowId, metadata: { text: 'ü'.repeat(5000) } }).details?.limit, 'bytes');
  });
});
