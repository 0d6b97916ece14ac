/** I5 of the queue port: what a full tenant may and may not do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { write } from '../testing/calls.ts';
import type { QueueDelivery } from './queue.ts';
import { EXPIRED, NEVER, QUEUE_CONTRACT_BOUNDS, type QueueUser, type Users } from './queue-user-contract.ts';

const { quotaBytes, groupsMax } = QUEUE_CONTRACT_BOUNDS;
const deliveriesMax = 3;

const FULL = { code: 'queue_backend_unavailable', message: /queues of this tenant are full/ };
const REFUSALS = 3;

/** Publishes texts of these lengths by turns until so many are refused; answers those that were not. */
async function fill({ publish }: QueueUser, topic: string, lengths: readonly number[]): Promise<string[]> {
  const kept: string[] = [];
  for (let n = 0, refused = 0; refused < REFUSALS; n++) {
    const text = `${topic}-${n}-`.padEnd(lengths[n % lengths.length]!, 'x');
    const outcome = await publish(topic, text).then(
      () => 'kept',
      (error: unknown) => error,
    );
    if (outcome === 'kept') kept.push(text);
    else {
      refused++;
      await assert.rejects(Promise.reject(outcome), FULL);
    }
    assert.ok(n < 2_000, 'the tenant never gets full');
  }
  return kept;
}

/** Told by the beginnings of the texts: where the first difference is, and how many there are. */
function assertTexts(got: readonly QueueDelivery[], kept: readonly string[], what: string): void {
  const seen = texts(got);
  const at = kept.findIndex((text, index) => seen[index] !== text);
  if (at === -1 && seen.length === kept.length) return;
  const index = at === -1 ? kept.length : at;
  const shown = (text: string | undefined) => (text === undefined ? 'nothing' : `${text.slice(0, 12)}…`);
  const missing = kept.filter((text) => !seen.includes(text)).map(shown);
  const counts = got.map(({ deliveryCount }) => deliveryCount).join(',');
  assert.fail(
    `${what}: ${seen.length} came of ${kept.length}; the first difference is at ${index}, ${shown(seen[index])} ` +
      `for ${shown(kept[index])}; missing: [${missing}]; delivery counts: ${counts}`,
  );
}

const texts = (deliveries: readonly QueueDelivery[]) => deliveries.map(({ payload }) => String(payload));
const lengthOf = (all: readonly string[]) => all.reduce((sum, { length }) => sum + length, 0);

export function queueRoom(user: Users): void {
  losesNothing(user);
  makesRoom(user);
  keepsWhatIsHeld(user);
  forgets(user);
  buries(user);
  countsGroups(user);
}

function losesNothing(user: Users): void {
  test('I5: a full tenant is refused and loses nothing; others go on', async () => {
    const ours = user();
    const kept = [
      ...(await fill(ours, 't', [20, 9_000, 300, 3_000, 50])),
      ...(await fill(ours, 't', [1_000, 20])),
      ...(await fill(ours, 't', [20])),
    ];
    assert.ok(lengthOf(kept) > quotaBytes / 2 && lengthOf(kept) <= quotaBytes, `${lengthOf(kept)} bytes`);
    await user().publish('t', 'x'.repeat(9_000));
    assertTexts(await ours.drain('t'), kept, 'the group without a name');
  });

  test('I5: what nobody has asked for yet is all there for the first group, whatever its name', async () => {
    const ours = user();
    const kept = await fill(ours, 't', [9_000, 20]);
    assertTexts(await ours.drain('t', { group: 'first' }), kept, 'the first group');
    // As long as there is room
    assertTexts(await ours.drain('t'), kept, 'the next group');
    for (let n = 0; n < 15; n++) {
      const text = `${n}-`.padEnd(9_000, 'x');
      await ours.publish('t', text);
      for (const group of ['', 'first'])
        assertTexts(await ours.drain('t', { group }), [text], `group '${group}', message ${n} after those`);
    }
  });

  test('I5: a topic that only groups with names read does not fill up', async () => {
    const ours = user();
    for (let n = 0; n < 15; n++) {
      await ours.publish('t', 'x'.repeat(9_000));
      assert.equal((await ours.drain('t', { group: 'g' })).length, 1);
    }
  });

  test('I5: those who publish at once do not pass the bound together', async () => {
    const ours = user();
    const text = 'x'.repeat(10_000);
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => ours.publish('t', text)));
    const kept = tries.filter(({ status }) => status === 'fulfilled').length;
    assert.ok(kept > 3 && kept * text.length <= quotaBytes, `${kept} were kept`);
    assert.equal((await ours.drain('t')).length, kept);
  });

  test('I5: what is refused reaches no group, though one of them has room', async () => {
    const ours = user();
    await ours.publish('t', 'first');
    for (const group of ['', 'busy']) await ours.drain('t', { group });
    const kept: string[] = [];
    const reached: string[] = [];
    for (let n = 0, refused = 0; refused < REFUSALS; n++) {
      assert.ok(n < 100, 'the tenant never gets full');
      const text = `${n}-`.padEnd(10_000, 'x');
      await ours.publish('t', text).then(
        () => kept.push(text),
        () => refused++,
      );
      reached.push(...texts(await ours.drain('t', { group: 'busy' })));
    }
    assert.deepEqual(reached, kept);
    assert.deepEqual(texts(await ours.drain('t')), kept);
  });

  test('I5: a tenant is full with all its topics together', async () => {
    const ours = user();
    const topics = ['a', 'b', 'c'];
    const kept = new Map<string, string[]>(topics.map((topic) => [topic, []]));
    for (const topic of topics) {
      await ours.publish(topic, 'first');
      for (const group of ['', 'g']) await ours.drain(topic, { group });
    }
    for (let n = 0; n < 6; n++)
      for (const topic of topics) {
        const text = `${n}-`.padEnd(9_000, 'x');
        await ours.publish(topic, text).then(
          () => kept.get(topic)?.push(text),
          (error) => assert.rejects(Promise.reject(error), FULL),
        );
      }
    const all = [...kept.values()].flat();
    assert.ok(all.length > 3 && lengthOf(all) <= quotaBytes, `${lengthOf(all)} bytes`);
    for (const topic of topics)
      for (const group of ['', 'g'])
        assert.deepEqual(texts(await ours.drain(topic, { group })), kept.get(topic));
  });
}

function makesRoom(user: Users): void {
  test('I5: what every group is done with makes room', async () => {
    const ours = user();
    await ours.publish('t', 'first');
    for (const group of ['', 'g']) await ours.drain('t', { group });
    await ours.publish('other', 'is read by nobody');
    for (let round = 0; round < 2; round++) {
      const kept = await fill(ours, 't', [9_000]);
      assert.ok(kept.length > 3, `${kept.length} were kept in round ${round}`);
      assert.deepEqual(texts(await ours.drain('t')), kept);
      assert.deepEqual(texts(await ours.drain('t', { group: 'g' })), kept);
    }
    assert.deepEqual(texts(await ours.drain('other')), ['is read by nobody']);
  });
}

function keepsWhatIsHeld(user: Users): void {
  test('I2: what a consumer holds while others make room comes again', async () => {
    const ours = user();
    const kept = await fill(ours, 't', [9_000]);
    const got = await ours.take('t', { messagesMax: 100 });
    assertTexts(got, kept, 'all that there is');
    const held = got.at(-1)!;
    await Promise.all(got.slice(0, -1).map(ours.ack));
    const text = 'y'.repeat(9_000);
    await ours.publish('t', text);
    assertTexts(await ours.drain('t'), [text], 'what came after');
    await ours.nack(held);
    const again = await ours.takeOne('t');
    assert.deepEqual([again.messageId, again.deliveryCount], [held.messageId, 2]);
  });
}

function forgets(user: Users): void {
  test('I7: who asks again for messages that made room for others is told so', async () => {
    const ours = user();
    const { port, tenant } = ours;
    await ours.publish('t', 'first');
    const call = write(tenant, { now: Date.now() });
    const request = { topic: 't', group: '', messagesMax: 1, visibilityMs: 30_000, waitMs: 0, signal: NEVER };
    const [delivery] = await port.consume(request, call);
    assert.equal((await port.consume(request, call))[0]?.payload, 'first');
    await ours.ack(delivery!);
    assert.equal((await port.consume(request, call))[0]?.payload, 'first', 'it is kept, though acknowledged');
    await fill(ours, 't', [9_000]);
    await ours.drain('t');
    await fill(ours, 't', [9_000]);
    await assert.rejects(port.consume(request, call), { ...EXPIRED, message: /1 of them no longer exist/ });
  });
}

function buries(user: Users): void {
  test('I5: a full tenant can addDeadLetter its dead', async () => {
    const ours = user();
    for (const poison of ['asked for', 'once too often', 'unsaid']) await ours.publish('poison', poison);
    const [asked, often, unsaid] = await ours.take('poison');
    assert.ok(asked && often && unsaid);
    for (const delivery of [often, unsaid]) await ours.nack(delivery);
    for (let count = 2; count < deliveriesMax; count++) {
      const both = [await ours.takeOne('poison'), await ours.takeOne('poison')];
      for (const delivery of both) await ours.nack(delivery);
    }
    const last = [await ours.takeOne('poison'), await ours.takeOne('poison', { visibilityMs: 100 })];
    for (const length of [9_000, 1_000, 20]) await fill(ours, 'fill', [length]);
    assert.deepEqual(await ours.addDeadLetter(asked, 'r'), { topic: 'poison', dead: true });
    assert.deepEqual(await ours.nack(last[0]!), { topic: 'poison', dead: false });
    assert.deepEqual(
      await ours.take('poison', { waitMs: 1_500, deliveriesMax }),
      [],
      'both were delivered too often',
    );
    const originals = (await ours.drain('poison.dlq')).map(
      ({ payload }) => (payload as { original: string }).original,
    );
    assert.deepEqual(originals.toSorted(), ['asked for', 'once too often', 'unsaid']);
  });

  test('dead letters of the longest topic can be read', async () => {
    const ours = user();
    const topic = 'q'.repeat(200);
    await ours.publish(topic, 1);
    await ours.addDeadLetter(await ours.takeOne(topic), 'r');
    assert.equal((await ours.drain(`${topic}.dlq`)).length, 1);
  });
}

function countsGroups(user: Users): void {
  test('a topic has only so many groups', async () => {
    const ours = user();
    await ours.publish('t', 1);
    const names = Array.from({ length: groupsMax }, (_, n) => `g${n}`);
    for (const group of ['', ...names.slice(1)])
      assert.equal((await ours.take('t', { group })).length, 1, group);
    const refused = { code: 'queue_backend_unavailable', message: /has 6 consumer groups/ };
    await assert.rejects(ours.take('t', { group: 'one more' }), refused);
    await ours.publish('t', 2);
    for (const group of ['', ...names.slice(1)])
      assert.equal((await ours.take('t', { group })).length, 1, group);
    await ours.publish('u', 1);
    assert.equal(
      (await ours.take('u', { group: 'one more' })).length,
      1,
      'other topics have groups of their own',
    );
  });
}
