import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Place, Room } from './room.ts';

/** Asks in the order of the list and says who came in when. */
function visitors(room: Room) {
  const inside: string[] = [];
  const places = new Map<string, Place>();
  const come = (name: string, tenant: string, bytes: number) => {
    const share = room.open(tenant);
    share.take(bytes, (place) => {
      inside.push(name);
      places.set(name, place);
    });
    return share;
  };
  return { inside, come, leave: (name: string) => places.get(name)?.leave() };
}

test('who comes first enters first, and leaving twice is leaving once', () => {
  const room = new Room(200);
  const { inside, come, leave } = visitors(room);
  for (const [name, tenant, bytes] of [
    ['first', 'a', 90],
    ['second', 'b', 90],
    ['third', 'c', 90],
    ['fourth', 'd', 10],
  ] as const)
    come(name, tenant, bytes);
  assert.deepEqual(inside, ['first', 'second'], 'nobody is overtaken');
  leave('first');
  leave('first');
  assert.deepEqual(inside, ['first', 'second', 'third', 'fourth']);
  assert.equal(room.held, 190);
});

test('a tenant has half of it at most, and its waiting holds up nobody else', () => {
  const room = new Room(200);
  const { inside, come, leave } = visitors(room);
  for (const name of ['one', 'two', 'three']) come(name, 'greedy', 40);
  come('other', 'modest', 90);
  assert.deepEqual(inside, ['one', 'two', 'other']);
  leave('one');
  assert.deepEqual(inside, ['one', 'two', 'other', 'three']);
});

test('what a tenant holds beyond its half takes nothing from the others', () => {
  const room = new Room(200);
  const greedy = room.open('greedy').hold(10);
  greedy.resize(1_000);
  assert.equal(room.open('greedy').tryTake(1), undefined);
  assert.ok(room.open('modest').tryTake(100));
  greedy.leave();
  assert.equal(room.held, 100);
  assert.ok(room.open('greedy').tryTake(100));
});

test('a share that is closed holds nothing, waits for nothing and gets nothing', () => {
  const room = new Room(200);
  const { inside, come } = visitors(room);
  const holding = come('holding', 'a', 100);
  const waiting = come('waiting', 'a', 100);
  come('next', 'a', 100);
  waiting.close();
  assert.deepEqual(inside, ['holding']);
  holding.close();
  assert.deepEqual(inside, ['holding', 'next']);
  holding.hold(50).resize(70);
  holding.take(1, () => assert.fail('it was closed'));
  assert.equal(room.held, 100);
});
