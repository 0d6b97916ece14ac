import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import Type from 'typebox';
import { Compile, Parse } from 'typebox/schema';
import { eventDocJson, fromStored, type RunEvent, RunEventDocSchema, toStored } from './event.ts';
import { EVENT_TYPES, isTerminalEvent } from './event-catalogue.ts';
import { EVENT_PAYLOADS } from './event-payload.ts';
import { publicSchema, publicValidator, skipWithoutPublicData } from './testing/public-schemas.ts';
import { payloads } from './testing/samples.ts';

const eventDoc = Compile(RunEventDocSchema);
const at = Date.UTC(2026, 8, 1);

/** Where the public schema lists its event types. */
const TypeList = Type.Object({
  $defs: Type.Object({ RunEventType: Type.Object({ enum: Type.Array(Type.String(), { minItems: 1 }) }) }),
});

const docOf = (event: RunEvent): unknown => JSON.parse(eventDocJson('run_x', toStored(event, 7)));

describe('event catalogue', () => {
  test('knows every public event type, the dispatch pair and nothing that is only a stream frame', {
    skip: skipWithoutPublicData,
  }, () => {
    const listed = Parse(TypeList, publicSchema('run-event.schema.json')).$defs.RunEventType.enum;
    assert.deepEqual(
      listed.filter((type) => !(type in EVENT_TYPES)),
      [],
    );
    assert.ok('core.dispatch.fanOut' in EVENT_TYPES && 'core.dispatch.join' in EVENT_TYPES);
    assert.ok(!('state.snapshot' in EVENT_TYPES) && !('ai.message.chunk' in EVENT_TYPES));
  });

  test('three events end a run', () => {
    const ends = Object.keys(EVENT_TYPES).filter(isTerminalEvent);
    assert.deepEqual(ends.sort(), ['run.cancelled', 'run.completed', 'run.failed']);
  });
});

describe('event payloads', () => {
  for (const [type, payload] of Object.entries(payloads)) {
    const ours = Compile(EVENT_PAYLOADS[type as keyof typeof EVENT_PAYLOADS]);

    test(`${type}: accepts the sample and later fields`, () => {
      assert.deepEqual([...ours.Errors(payload)[1]], []);
      assert.ok(ours.Check({ ...payload, addedLater: 1 }));
    });

    test(`${type}: fits the public schema and requires what that requires`, {
      skip: skipWithoutPublicData,
    }, () => {
      const index = publicValidator('run-event-payloads.schema.json#/$defs/_typeIndex');
      assert.deepEqual(index?.({ [type]: payload }), []);
      for (const key of Object.keys(payload)) {
        const without = Object.fromEntries(Object.entries(payload).filter(([name]) => name !== key));
        const required: boolean = index?.({ [type]: without })?.length !== 0;
        assert.ok(!required || !ours.Check(without), `without ${key}`);
      }
    });
  }

  test('a pause says how it drains', () => {
    assert.equal(Compile(EVENT_PAYLOADS['run.paused']).Check({ reason: 'lunch' }), false);
  });
});

describe('event on the wire', () => {
  test('is valid under ours and the public schema', { skip: skipWithoutPublicData }, () => {
    const event: RunEvent = {
      type: 'node.completed',
      at,
      nodeId: 'a "quoted" node',
      causationId: 'run_x.6',
      payload: { nodeId: 'a "quoted" node', outputs: { text: 'ü\n' } },
      sealed: { outputs: { secret: 1 } },
    };
    const doc = docOf(event);
    assert.deepEqual([...eventDoc.Errors(doc)[1]], []);
    assert.deepEqual(publicValidator('run-event.schema.json')?.(doc), []);
    assert.ok(!JSON.stringify(doc).includes('secret'), 'clear values stay in the host');
    assert.deepEqual(doc, {
      eventId: 'run_x.7',
      runId: 'run_x',
      type: 'node.completed',
      nodeId: event.nodeId,
      sequence: 7,
      timestamp: '2026-09-01T00:00:00.000Z',
      causationId: 'run_x.6',
      schemaVersion: 1,
      engineVersion: '1',
      payload: event.payload,
    });
  });

  test('says that its content is untrusted, whatever is sealed beside it', () => {
    for (const sealed of [undefined, { outputs: { secret: 1 } }]) {
      const event: RunEvent = {
        type: 'log.appended',
        at,
        payload: {},
        contentTrust: 'untrusted',
        ...(sealed && { sealed }),
      };
      const doc = eventDoc.Parse(docOf(event));
      assert.equal(doc.contentTrust, 'untrusted');
      assert.ok(!JSON.stringify(doc).includes('secret'));
      assert.deepEqual(fromStored(toStored(event, 7)), event);
    }
  });

  test('needs a payload, a time and a sequence from 0', () => {
    const doc = eventDoc.Parse(docOf({ type: 'run.resumed', at, payload: {} }));
    assert.equal(eventDoc.Check({ ...doc, payload: undefined }), false);
    assert.equal(eventDoc.Check({ ...doc, timestamp: 'yesterday' }), false);
    assert.equal(eventDoc.Check({ ...doc, sequence: -1 }), false);
  });

  test('comes back from storage as it went in', () => {
    const payload = fc.dictionary(fc.string(), fc.jsonValue());
    const event = fc.record(
      {
        type: fc.constantFrom('node.started', 'acme.sent'),
        at: fc.nat(),
        nodeId: fc.string(),
        causationId: fc.string(),
        payload,
        sealed: payload,
      },
      { requiredKeys: ['type', 'at', 'payload'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(event, (made) => {
        const plain = JSON.parse(JSON.stringify(made));
        assert.deepEqual(fromStored(toStored(plain, 0)), plain);
      }),
    );
  });
});
