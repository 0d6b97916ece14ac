/** What queues in databases do for those who wait: one message answers one of them, and looking leaves no record. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freshTenant, write } from '../testing/calls.ts';
import type { QueueDelivery, QueuePort } from './queue.ts';
import { NEVER, userOf } from './queue-user-contract.ts';

export interface OpenedForWaiting {
  /** Of one database, each as a process has it. */
  readonly ports: readonly QueuePort[];
  /** Calls of a tenant that are on record. */
  recorded(tenant: string): Promise<number>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;

/** Who waits for long, and what became of it. */
class Waiters {
  readonly answers: (readonly QueueDelivery[])[] = [];
  readonly #tenant: string;
  #next = Promise.withResolvers<void>();

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  add(port: QueuePort, { signal = NEVER, visibilityMs = HOUR_MS } = {}): Promise<unknown> {
    const request = { topic: 't', group: 'g', messagesMax: 1, visibilityMs, waitMs: HOUR_MS, signal };
    const call = write(this.#tenant, { now: Date.now() });
    return port.consume(request, call).then((answer) => {
      this.answers.push(answer);
      this.#next.resolve();
      this.#next = Promise.withResolvers();
    });
  }

  async answered(count: number): Promise<void> {
    while (this.answers.length < count) await this.#next.promise;
  }
}

const payloads = ({ answers }: Waiters) => answers.flat().map(({ payload }) => payload);

export function queueWaitingContract(
  name: string,
  open: () => Promise<OpenedForWaiting>,
  { skip = false }: { readonly skip?: string | false } = {},
): void {
  describe(`queue port: ${name}, waiting`, { skip }, () => {
    let opened: OpenedForWaiting | null = null;
    const world = (): OpenedForWaiting => opened ?? assert.fail('the ports are not open');
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    answersOne(world);
    goesOn(world);
    looksBehind(world);
  });
}

function answersOne(world: () => OpenedForWaiting): void {
  test('of many who wait, each message answers one; the others wait on, and are not on record', async () => {
    const { ports, recorded } = world();
    const tenant = freshTenant();
    const { publish } = userOf(ports[0]!, tenant);
    const waiters = new Waiters(tenant);
    const ending = new AbortController();
    const { signal } = ending;
    const ended = Array.from({ length: 40 }, (_, n) => waiters.add(ports[n % ports.length]!, { signal }));
    const outcomes = Promise.allSettled(ended);
    const sent = [1, 2, 3, 4];
    for (const n of sent) {
      await publish('t', n);
      await waiters.answered(n);
    }
    assert.deepEqual(payloads(waiters), sent);
    assert.equal(waiters.answers.length, sent.length, 'nobody was answered with nothing');
    assert.equal(await recorded(tenant), 2 * sent.length);
    ending.abort();
    const rejected = (await outcomes).filter(({ status }) => status === 'rejected');
    assert.equal(rejected.length, 40 - sent.length);
    assert.equal(await recorded(tenant), 2 * sent.length);
  });

  test('messages that come at once reach all who wait', async () => {
    const { ports } = world();
    const tenant = freshTenant();
    const waiters = new Waiters(tenant);
    const all = Array.from({ length: 12 }, (_, n) => waiters.add(ports[n % ports.length]!));
    const { publish } = userOf(ports.at(-1)!, tenant);
    await Promise.all(all.map((_, n) => publish('t', n)));
    await Promise.all(all);
    assert.equal(new Set(payloads(waiters)).size, 12);
  });
}

function goesOn(world: () => OpenedForWaiting): void {
  test('when the first gives up, the next looks', async () => {
    const { ports } = world();
    const tenant = freshTenant();
    const waiters = new Waiters(tenant);
    const ending = new AbortController();
    const first = waiters.add(ports[0]!, { signal: ending.signal });
    const second = waiters.add(ports[0]!);
    ending.abort(new Error('gone'));
    await assert.rejects(first, /gone/);
    await userOf(ports[0]!, tenant).publish('t', 'x');
    await second;
    assert.deepEqual(payloads(waiters), ['x']);
  });

  test('what the first does not acknowledge in time, or gives back, the next gets', async () => {
    const { ports } = world();
    const tenant = freshTenant();
    const { publish, nack } = userOf(ports.at(-1)!, tenant);
    const waiters = new Waiters(tenant);
    const all = [waiters.add(ports[0]!, { visibilityMs: 300 })];
    await publish('t', 'x');
    await waiters.answered(1);
    all.push(waiters.add(ports[0]!), waiters.add(ports[0]!));
    await waiters.answered(2);
    await nack(waiters.answers[1]![0]!);
    await Promise.all(all);
    assert.deepEqual(
      waiters.answers.flat().map(({ deliveryCount }) => deliveryCount),
      [1, 2, 3],
    );
  });
}

function looksBehind(world: () => OpenedForWaiting): void {
  test('who waits is not answered early, however many are delayed or have expired before what comes', async () => {
    const { ports, recorded } = world();
    const tenant = freshTenant();
    const [port] = ports as [QueuePort];
    const publish = (delayMs: number, now: number) =>
      port.publish({ topic: 't', payload: delayMs, headers: {}, delayMs }, write(tenant, { now }));
    const longAgo = Date.now() - 2 * HOUR_MS;
    await Promise.all(Array.from({ length: 270 }, () => publish(1, longAgo)));
    await Promise.all(Array.from({ length: 130 }, () => publish(HOUR_MS, Date.now())));
    const waiters = new Waiters(tenant);
    const waiting = waiters.add(port);
    await publish(0, Date.now());
    await waiting;
    assert.deepEqual(payloads(waiters), [0]);
    assert.equal(await recorded(tenant), 270 + 130 + 2);
  });
}
