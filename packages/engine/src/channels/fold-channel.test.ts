import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChannelDeclaration, Json, RunEvent } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { apply, fold, newRun, runOf } from '../index.ts';
import { effect, facts, plain, Trial, workflow } from '../testing/workflow.ts';

const json = fc.jsonValue() as fc.Arbitrary<Json>;
const REDUCERS = [
  'replace',
  'append',
  'merge',
  'counter',
  'votes',
  'feedback',
  'message',
  'vendor.acme.last',
];

const declaration: fc.Arbitrary<ChannelDeclaration> = fc.record(
  {
    reducer: fc.constantFrom(...REDUCERS),
    maxSize: fc.integer({ min: 1, max: 4 }),
    ttlMs: fc.integer({ min: 1, max: 6 }),
    sensitive: fc.boolean(),
    schemaVersion: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: ['reducer'] },
);
const value = fc.oneof(
  json,
  fc.integer(),
  fc.record({ userId: fc.constantFrom('a', 'b'), messageId: fc.constantFrom('1', '2'), n: fc.nat(9) }),
);

describe('any channel', () => {
  test('the log folds to the run that was decided, also through JSON and from any snapshot', () => {
    const writes = fc.array(fc.record({ value, waits: fc.nat(4) }), { maxLength: 15 });
    fc.assert(
      fc.property(declaration, writes, fc.nat(), (log, sent, at) => {
        const trial = Trial.begin(workflow([effect('out')], [], { channels: { log } }));
        for (const write of sent) {
          trial.now += write.waits;
          trial.give({ type: 'writeChannel', now: trial.now, channel: 'log', value: write.value });
        }
        const events: RunEvent[] = JSON.parse(JSON.stringify(trial.events));
        const run = plain(trial.run);
        assert.deepEqual(plain(fold(newRun(facts()), events)), run);
        const cut = at % (events.length + 1);
        const before = runOf(plain(fold(newRun(facts()), events.slice(0, cut))));
        assert.deepEqual(plain(fold(before, events.slice(cut))), run);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('no event makes the fold throw or reach what is not data', () => {
    const keys = ['channel', 'value', 'reducer', 'schemaVersion', 'ttlMs', 'maxSize'];
    const part = fc.oneof(
      fc.dictionary(
        fc.constantFrom(...keys),
        fc.oneof(json, fc.constantFrom<Json>('log', '__proto__', 'constructor', ...REDUCERS)),
      ),
      json,
      fc.constant(undefined),
    );
    const event = fc.record({
      type: fc.constantFrom('channel.written', 'channel.new'),
      at: fc.nat(),
      payload: part,
      sealed: part,
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        const run = (events as RunEvent[]).reduce(apply, newRun(facts()));
        assert.equal(run.nextSeq, events.length);
        assert.equal(Object.getPrototypeOf(run.channels), Object.prototype);
        for (const name of Object.keys(run.channels)) assert.ok(!(name in Object.prototype));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('a run that is given is never changed', () => {
    const trial = Trial.begin(workflow([effect('out')], [], { channels: { log: { reducer: 'append' } } }));
    const write = { type: 'writeChannel', now: 1_000, channel: 'log', value: 1 } as const;
    trial.give(write);
    const before = JSON.stringify(trial.run);
    const given = trial.run;
    trial.give(write);
    assert.equal(JSON.stringify(given), before);
  });
});
