/** I4 of the queue port. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPIRED, type Users } from './queue-user-contract.ts';

const deliveriesMax = 3;

export function queueDeadLetters(user: Users): void {
  test('a dead letter is a message of its own topic, with the original and the reason', async () => {
    const { publish, take, takeOne, addDeadLetter, ack } = user();
    const messageId = await publish('t', { v: 'poison' });
    const delivery = await takeOne('t', { group: 'g' });
    assert.deepEqual(await addDeadLetter(delivery, 'unreadable'), { topic: 't', dead: true });
    await assert.rejects(ack(delivery), EXPIRED);
    assert.deepEqual(await take('t', { group: 'g' }), []);
    const letter = await takeOne('t.dlq');
    assert.deepEqual(letter.payload, {
      original: { v: 'poison' },
      deadLetterReason: 'unreadable',
      topic: 't',
      consumerGroup: 'g',
      messageId,
      deliveryCount: 1,
    });
    assert.equal(letter.headers.kind, 'test');
    assert.equal((await takeOne('t')).messageId, messageId, 'other groups still get the message');
  });

  test('whatever its group is called', async () => {
    const { publish, takeOne, addDeadLetter, drain } = user();
    await publish('t', 1);
    const groups = ['a\nb', 'a\r\nx-id: x', 'é'.repeat(50)];
    for (const group of groups) await addDeadLetter(await takeOne('t', { group }), 'r');
    const letters = (await drain('t.dlq')).map(({ payload }) => payload as { consumerGroup: string });
    assert.deepEqual(letters.map(({ consumerGroup }) => consumerGroup).toSorted(), groups.toSorted());
  });

  test('I4: what is given back comes again, however often', async () => {
    const { publish, takeOne, nack, take } = user();
    await publish('t', 'stubborn');
    for (let count = 1; count <= 12; count++) {
      const delivery = await takeOne('t');
      assert.equal(delivery.deliveryCount, count);
      assert.deepEqual(await nack(delivery), { topic: 't', dead: false });
    }
    assert.deepEqual(await take('t.dlq'), []);
  });

  test('I4: what fails as often as a consumer declares becomes one, for that group', async () => {
    const { publish, take, takeOne, nack } = user();
    await publish('t', 'bad');
    for (let count = 1; count <= deliveriesMax; count++) {
      const delivery = await takeOne('t', { deliveriesMax });
      assert.equal(delivery.deliveryCount, count);
      await nack(delivery);
    }
    await publish('t', 'good');
    assert.equal((await takeOne('t', { deliveriesMax })).payload, 'good');
    const letter = await takeOne('t.dlq');
    const payload = letter.payload as { original: string; deadLetterReason: string; deliveryCount: number };
    assert.deepEqual([payload.original, payload.deadLetterReason], ['bad', 'delivery_limit_exceeded']);
    assert.equal(payload.deliveryCount, deliveriesMax);
    assert.deepEqual(await take('t'), []);
  });

  test('I4: so does what nobody says anything about', async () => {
    const { publish, takeOne, take } = user();
    await publish('t', 'silent');
    for (let count = 1; count <= deliveriesMax; count++)
      await takeOne('t', { visibilityMs: 100, deliveriesMax });
    assert.deepEqual(await take('t', { waitMs: 1_500, deliveriesMax }), []);
    const { payload } = await takeOne('t.dlq');
    assert.equal((payload as { deadLetterReason: string }).deadLetterReason, 'delivery_limit_exceeded');
  });

  test('I4: dead letters stay where they are until they are acknowledged', async () => {
    const { publish, takeOne, addDeadLetter, nack, ack, take } = user();
    await publish('t', 1);
    await addDeadLetter(await takeOne('t'), 'x');
    for (let count = 1; count <= deliveriesMax + 1; count++) {
      const letter = await takeOne('t.dlq');
      assert.equal(letter.deliveryCount, count);
      await nack(letter);
    }
    const letter = await takeOne('t.dlq');
    await assert.rejects(addDeadLetter(letter, 'again'), {
      code: 'validation_error',
      message: /already a dead letter/,
    });
    await ack(letter);
    assert.deepEqual(await take('t.dlq'), []);
  });
}
