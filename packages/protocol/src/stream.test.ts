import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { OpenwopError } from './error.ts';
import { EVENT_TYPES } from './event-catalogue.ts';
import { admits, parseStreamMode, STREAM_MODES } from './stream.ts';

const refused = (text: string) =>
  assert.throws(
    () => parseStreamMode(text),
    (error) => {
      assert.ok(error instanceof OpenwopError);
      assert.equal(error.code, 'unsupported_stream_mode');
      assert.deepEqual(error.details, { supported: ['updates', 'values', 'messages', 'debug'] });
      return true;
    },
  );

describe('stream mode', () => {
  test('is updates unless told otherwise', () => {
    assert.deepEqual(parseStreamMode(undefined), ['updates']);
  });

  test('takes each mode alone and lists without values', () => {
    for (const mode of STREAM_MODES) assert.deepEqual(parseStreamMode(mode), [mode]);
    assert.deepEqual(parseStreamMode('updates,messages'), ['updates', 'messages']);
    assert.deepEqual(parseStreamMode('messages,debug,messages'), ['messages', 'debug']);
  });

  test('refuses unknown members and values in company', () => {
    for (const text of ['', 'all', 'updates,', 'updates,all', 'Updates', 'values,updates', 'debug,values']) {
      refused(text);
    }
  });

  test('any text gives known modes or the catalogued refusal', () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom(...STREAM_MODES), fc.string()))
      .map((list) => list.join(','));
    fc.assert(
      fc.property(text, (made) => {
        try {
          const modes = parseStreamMode(made);
          assert.ok(modes.length > 0 && modes.every((mode) => STREAM_MODES.includes(mode)));
          assert.ok(modes.length === 1 || !modes.includes('values'));
        } catch (error) {
          assert.ok(error instanceof OpenwopError && error.code === 'unsupported_stream_mode');
        }
      }),
    );
  });
});

describe('admission', () => {
  const types = Object.keys(EVENT_TYPES);

  test('updates: what changes for an onlooker', () => {
    for (const type of ['run.started', 'run.paused', 'node.failed', 'interrupt.requested', 'eval.scored']) {
      assert.ok(admits(['updates'], type), type);
    }
    for (const type of ['node.started', 'variable.changed', 'log.appended', 'output.chunk', 'node.retried']) {
      assert.ok(!admits(['updates'], type), type);
    }
  });

  test('values: every update, and node.started', () => {
    const extra = types.filter((type) => admits(['values'], type) !== admits(['updates'], type));
    assert.deepEqual(extra, ['node.started']);
  });

  test('messages: output chunks only; mixed modes add up', () => {
    assert.deepEqual(
      types.filter((type) => admits(['messages'], type)),
      ['output.chunk'],
    );
    assert.ok(
      admits(['updates', 'messages'], 'output.chunk') && admits(['updates', 'messages'], 'run.started'),
    );
  });

  test('debug: everything, and alone for types outside the catalogue', () => {
    for (const type of [...types, 'acme.sent', 'toString']) assert.ok(admits(['debug'], type), type);
    for (const type of ['acme.sent', 'toString']) {
      assert.ok(!admits(['updates', 'messages'], type) && !admits(['values'], type), type);
    }
  });
});
