/** The call gate with a small surface of its own, whose backend keeps no journal. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { embeddedCallGate } from '../testing/embedded-call-gate.ts';
import { callGateOf, callsOf, factsOf, MemoryJournal, nodeOf } from '../testing/test-call-gate.ts';
import type { Data } from './data.ts';
import { defineSurface, type Implementation } from './define-surface.ts';
import type { WriteCall } from './surface-call.ts';

const mail = defineSurface({
  capability: 'mail',
  aliases: ['post'],
  path: 'mail',
  summary: 'Letters.',
  journal: 'host',
  limits: { maxBytes: 10 },
  options: {
    tracking: {
      summary: 'Tells where letters are.',
      advertises: { tracking: { supported: true, live: true } },
    },
    urgent: { summary: 'Fast letters.', advertises: { urgent: true } },
  },
  errors: [],
  methods: {
    send: {
      effect: 'effect',
      summary: 'Sends.',
      input: Type.Object({ text: Type.String() }),
      output: Type.Object({ number: Type.Integer() }),
    },
    count: { effect: 'read', summary: 'Counts.', input: Type.Object({}), output: Type.Integer() },
    watch: {
      effect: 'read',
      kind: 'stream',
      needs: 'tracking',
      summary: 'Follows a letter.',
      input: Type.Object({}),
      output: Type.Object({ place: Type.String() }),
    },
    rush: {
      effect: 'effect',
      needs: 'urgent',
      idempotent: true,
      summary: 'Sends fast.',
      input: Type.Object({ text: Type.String() }),
      output: Type.Object({ number: Type.Integer() }),
    },
  },
});

interface PostOffice {
  readonly sent: string[];
  /** Of every try. */
  readonly ids: string[];
  /** Thrown by the next sending. */
  fail: Error | null;
}

function openPost(office: PostOffice, lacks: readonly ('tracking' | 'urgent')[] = []) {
  const send = async ({ text }: { text: string }, { invocation }: WriteCall) => {
    office.ids.push(invocation.id);
    const failure = office.fail;
    office.fail = null;
    if (failure) throw failure;
    return { number: office.sent.push(text) };
  };
  return mail.implement(
    {
      send,
      rush: send,
      count: async () => office.sent.length,
      async *watch() {
        for (const place of ['here', 'there']) yield { place };
      },
    },
    { lacks },
  );
}

const office = (): PostOffice => ({ sent: [], ids: [], fail: null });

test('an implementation that lacks a method or misspells one does not compile', () => {
  type Methods = Implementation<typeof mail.literal>;
  type Fits<T> = T extends Methods ? true : false;
  const whole: Fits<Methods> = true;
  const missing: Fits<Omit<Methods, 'send'>> = false;
  const misspelt: Fits<Omit<Methods, 'send'> & { sned: Methods['send'] }> = false;
  const wrongAnswer: Fits<Omit<Methods, 'count'> & { count: () => Promise<string> }> = false;
  assert.deepEqual([whole, missing, misspelt, wrongAnswer], [true, false, false, false]);
});

test('a call carries the owner of its dispatch, and no copy of it', async () => {
  const owners: unknown[] = [];
  const surface = mail.implement({
    send: async () => ({ number: 1 }),
    rush: async () => ({ number: 1 }),
    count: async (_input, { owner }) => owners.push(owner),
    async *watch() {},
  });
  const facts = factsOf();
  await callsOf(callGateOf([surface]).callGate.open(facts))('mail.count', {});
  assert.equal(owners[0], facts.owner);
});

describe('what is offered', () => {
  test('discovery and peer names follow the literal and what the backend lacks', () => {
    const { callGate } = callGateOf([openPost(office(), ['urgent'])]);
    assert.deepEqual(callGate.discovery(), {
      mail: { supported: true, maxBytes: 10, tracking: { supported: true, live: true } },
    });
    assert.deepEqual([...callGate.capabilities().keys()].sort(), [
      'host.mail',
      'host.mail.tracking',
      'host.mail.tracking.live',
      'host.post',
      'host.post.tracking',
      'host.post.tracking.live',
      'mail',
      'mail.tracking',
      'mail.tracking.live',
      'post',
      'post.tracking',
      'post.tracking.live',
    ]);
    assert.deepEqual(callGate.table, { 'mail.send': 'unary', 'mail.count': 'unary', 'mail.watch': 'stream' });
  });

  test('a literal may have its own rule of what satisfies a peer', () => {
    const models = defineSurface({
      capability: 'models',
      path: 'models',
      aliases: [],
      summary: 'Models.',
      journal: 'host',
      limits: {},
      satisfies: ({ providers }) => (Array.isArray(providers) ? providers.map(String) : []),
      errors: [],
      methods: {},
    });
    const { callGate } = callGateOf([
      models.implement({}, { advertises: { providers: ['one', 'two'], live: true } }),
    ]);
    assert.deepEqual(callGate.capabilities().get('models'), ['one', 'two']);
    assert.deepEqual(
      [callGate.capabilities().has('models.two'), callGate.capabilities().has('models.live')],
      [true, false],
    );
  });

  test('what is absent is named', async () => {
    const call = nodeOf(callGateOf([openPost(office(), ['urgent'])]));
    const missing = (path: string, capability: string) =>
      assert.rejects(call(path, {}), { code: 'host_capability_missing', details: { capability } });
    await missing('mail.rush', 'host.mail.rush');
    await missing('storage.kv.cas', 'host.kvStorage.compareAndSwap');
    await missing('no.such.thing', 'no.such.thing');
    await missing('__proto__', '__proto__');
  });
});

describe('a call', () => {
  test('takes one object that fits, and says what does not', async () => {
    const post = office();
    const call = nodeOf(callGateOf([openPost(post)]));
    await assert.rejects(call('mail.send', { text: 5 }), {
      code: 'validation_error',
      message: 'ctx.mail.send: the argument/text must be string.',
    });
    await assert.rejects(call('mail.send', 'text'), { code: 'validation_error' });
    await assert.rejects(call('mail.send', { text: 'a' }, { text: 'b' }), { code: 'validation_error' });
    assert.deepEqual(post.sent, []);
  });

  test('of a pure node may only read', async () => {
    const post = office();
    const call = nodeOf(callGateOf([openPost(post)]), { effect: 'pure' });
    assert.equal(await call('mail.count'), 0);
    await assert.rejects(call('mail.send', { text: 'a' }), {
      code: 'sandbox_capability_denied',
      details: { requestedCapability: 'host.mail.send' },
    });
    assert.deepEqual(post.sent, []);
  });

  test('that streams is checked and sent item by item', async () => {
    const sent: Data[] = [];
    const { callGate } = callGateOf([openPost(office())]);
    assert.equal(await callsOf(callGate.open(factsOf()), sent)('mail.watch', {}), undefined);
    assert.deepEqual(sent, [{ place: 'here' }, { place: 'there' }]);
  });

  test('is reported with who, how long and how it ended, and without what it carried', async () => {
    const world = callGateOf([openPost(office())]);
    const call = nodeOf(world);
    await call('mail.send', { text: 'secret' });
    await assert.rejects(call('mail.send', {}));
    const about = {
      surface: 'mail',
      method: 'send',
      tenant: 'acme',
      runId: 'run-1',
      nodeId: 'node-1',
      ms: 0,
    };
    const pack = { name: 'vendor.test.pack', version: '1.0.0' };
    assert.deepEqual(world.reports, [
      { ...about, pack, ok: true },
      { ...about, pack, ok: false, code: 'validation_error' },
    ]);
  });

  test('that meets a fault of the host says nothing of it to the pack', async () => {
    const post = office();
    const world = callGateOf([openPost(post)]);
    post.fail = new Error('password=hunter2');
    await assert.rejects(nodeOf(world)('mail.send', { text: 'a' }), (error: OpenwopError) => {
      assert.equal(error.code, 'internal_error');
      assert.match(
        error.message,
        /^The host failed to carry out this call. See its log for the id of the run.$/,
      );
      return true;
    });
    assert.match(String(world.reports[0]?.fault), /hunter2/);
  });
});

describe('the journal around a backend without one', () => {
  test('a node that runs again gets the recorded answers; another node or visit acts', async () => {
    const post = office();
    const world = callGateOf([openPost(post)]);
    for (let run = 0; run < 3; run++) {
      const call = nodeOf(world);
      assert.deepEqual(await call('mail.send', { text: 'a' }), { number: 1 });
      await call('mail.count');
      assert.deepEqual(await call('mail.send', { text: 'a' }), { number: 2 });
    }
    await nodeOf(world, { nodeId: 'node-2' })('mail.send', { text: 'b' });
    await nodeOf(world, { ordinalBase: 1_000_000 })('mail.send', { text: 'c' });
    await nodeOf(world, { tenant: 'other' })('mail.send', { text: 'd' });
    assert.deepEqual(post.sent, ['a', 'a', 'b', 'c', 'd']);
  });

  test('calls at once keep the order in which they came, also when dispatched again', async () => {
    const post = office();
    const { callGate } = callGateOf([openPost(post)]);
    const calls = callGate.open(factsOf());
    for (const dispatch of [0, 1]) {
      const call = callsOf(calls, [], dispatch);
      const answers = await Promise.all(['a', 'b', 'c'].map((text) => call('mail.send', { text })));
      assert.deepEqual(answers, [{ number: 1 }, { number: 2 }, { number: 3 }]);
    }
    assert.deepEqual(post.sent, ['a', 'b', 'c']);
  });

  test('the same call with other input gets the recorded answer and a warning, without its values', async () => {
    const post = office();
    const journal = new MemoryJournal();
    const world = callGateOf([openPost(post)], journal);
    const first = await nodeOf(world)('mail.send', { text: 'a' });
    assert.deepEqual(await nodeOf(world)('mail.send', { text: 'a' }), first);
    assert.deepEqual(journal.warnings, []);
    assert.deepEqual(await nodeOf(world)('mail.send', { text: 'secret' }), first);
    assert.match(
      journal.warnings.join(),
      /^Write 0 of node "node-1" to mail has other input .* recorded answer/,
    );
    assert.doesNotMatch(journal.warnings.join(), /secret/);
    assert.deepEqual(post.sent, ['a']);
  });

  test('another call in the same place is refused, and both are named', async () => {
    const post = office();
    const world = callGateOf([openPost(post)]);
    await nodeOf(world)('mail.send', { text: 'a' });
    await assert.rejects(nodeOf(world)('mail.rush', { text: 'a' }), {
      code: 'idempotency_key_mismatch',
      message: /was mail\.send when .* and is mail\.rush now/,
    });
    assert.deepEqual(post.sent, ['a']);
  });

  test('writes to several capabilities count once each, in whatever order the node makes them', async () => {
    const world = await embeddedCallGate();
    const writes: [string, Data][] = [
      ['storage.kv.atomicIncrement', { key: 'n' }],
      ['db.search.index', { index: 'i', docs: [{ id: 'a', fields: { text: 'b' } }] }],
      ['storage.table.insert', { table: 't', row: { v: 1 } }],
    ];
    for (const order of [writes, writes.toReversed()]) {
      const call = nodeOf(world);
      for (const [path, input] of order) await call(path, input);
    }
    const counted = await nodeOf(world)('storage.kv.get', { key: 'n' });
    assert.deepEqual(counted, { value: 1, found: true, ttlRemainingMs: null });
    assert.deepEqual(await nodeOf(world)('storage.table.count', { table: 't' }), { count: 1 });
  });

  test('a final failure is remembered; one that may pass is tried anew when the node runs again', async () => {
    const post = office();
    const world = callGateOf([openPost(post)]);
    post.fail = new OpenwopError('not_found');
    for (let run = 0; run < 2; run++)
      await assert.rejects(nodeOf(world)('mail.send', { text: 'a' }), { code: 'not_found' });
    post.fail = new OpenwopError('storage_unavailable');
    const other = { nodeId: 'node-2' };
    await assert.rejects(nodeOf(world, other)('mail.send', { text: 'b' }), { code: 'storage_unavailable' });
    assert.deepEqual(await nodeOf(world, other)('mail.send', { text: 'b' }), { number: 1 });
    assert.deepEqual(await nodeOf(world, other)('mail.send', { text: 'b' }), { number: 1 });
    assert.deepEqual(post.sent, ['b']);
  });

  test('what is idempotent keeps its id over failures that may pass, however many', async () => {
    const post = office();
    const world = callGateOf([openPost(post)]);
    for (let run = 0; run < 30; run++) {
      post.fail = new OpenwopError('storage_unavailable');
      await assert.rejects(nodeOf(world)('mail.rush', { text: 'a' }), { code: 'storage_unavailable' });
    }
    assert.deepEqual(await nodeOf(world)('mail.rush', { text: 'a' }), { number: 1 });
    assert.deepEqual(new Set(post.ids).size, 1);
  });

  test('a call whose node ends before it is reported, without a code', async () => {
    const world = callGateOf([openPost(office())]);
    const io = { dispatch: 0, signal: AbortSignal.abort(new Error('over')), send: async () => {} };
    const call = world.callGate.open(factsOf()).call('mail.send', [{ text: 'a' }], io);
    await assert.rejects(call, { message: 'over' });
    assert.deepEqual(
      world.reports.map(({ method, ok, code }) => [method, ok, code]),
      [['send', false, undefined]],
    );
  });

  test('after an end that nobody knows, only what is idempotent is asked again', async () => {
    const post = office();
    const world = callGateOf([openPost(post)], new MemoryJournal());
    for (const path of ['mail.send', 'mail.rush']) {
      post.fail = new Error('the line went dead');
      await assert.rejects(nodeOf(world, { nodeId: path })(path, { text: path }));
    }
    await assert.rejects(nodeOf(world, { nodeId: 'mail.send' })('mail.send', { text: 'mail.send' }));
    assert.deepEqual(await nodeOf(world, { nodeId: 'mail.rush' })('mail.rush', { text: 'mail.rush' }), {
      number: 1,
    });
  });
});
