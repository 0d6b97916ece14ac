/** Any sequence of calls answers like a map whose entries have an end. */
import assert from 'node:assert/strict';
import type { Json } from '@gantry/protocol';
import fc from 'fast-check';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import type { KvEntry, KvPort } from './kv.ts';

type Command =
  | { readonly do: 'put'; readonly key: string; readonly value: Json; readonly ttlMs: number | null }
  | { readonly do: 'delete' | 'get'; readonly key: string }
  | { readonly do: 'increment'; readonly key: string; readonly delta: number }
  | { readonly do: 'swap'; readonly key: string; readonly expected: Json; readonly value: Json }
  | { readonly do: 'list'; readonly prefix: string }
  | { readonly do: 'wait'; readonly ms: number };

const key = fc.constantFrom('a', 'ab', 'b', '%', 'a%');
const value: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(0, 1, 'x', null, { a: 1, b: 2 }, [1]);

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constant('put' as const), key, value, ttlMs: fc.constantFrom(null, 10, 50) }),
  fc.record({ do: fc.constantFrom('delete' as const, 'get' as const), key }),
  fc.record({ do: fc.constant('increment' as const), key, delta: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ do: fc.constant('swap' as const), key, expected: value, value }),
  fc.record({ do: fc.constant('list' as const), prefix: fc.constantFrom('', 'a', '%') }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 10, 60) }),
);

class Model {
  readonly #entries = new Map<string, KvEntry>();
  now = NOW;

  get(name: string): KvEntry | null {
    const entry = this.#entries.get(name);
    return entry && (entry.expiresAt === null || entry.expiresAt > this.now) ? entry : null;
  }

  apply(each: Command): unknown {
    const there = 'key' in each ? this.get(each.key) : null;
    switch (each.do) {
      case 'put': {
        const expiresAt = each.ttlMs === null ? null : this.now + each.ttlMs;
        this.#entries.set(each.key, { value: each.value, expiresAt });
        return { replaced: there !== null };
      }
      case 'get':
        return there;
      case 'delete':
        this.#entries.delete(each.key);
        return { deleted: there !== null };
      case 'increment': {
        const previous = there === null ? 0 : there.value;
        if (typeof previous !== 'number') return 'validation_error';
        this.#change(each.key, previous + each.delta, there);
        return { value: previous + each.delta, previous };
      }
      case 'swap': {
        const actual = there?.value ?? null;
        if (JSON.stringify(actual) !== JSON.stringify(each.expected)) return { swapped: false, actual };
        this.#change(each.key, each.value, there);
        return { swapped: true };
      }
      case 'list':
        return [...this.#entries.keys()]
          .filter((name) => name.startsWith(each.prefix) && this.get(name))
          .sort();
      case 'wait':
        this.now += each.ms;
        return null;
    }
  }

  #change(name: string, next: Json, before: KvEntry | null): void {
    this.#entries.set(name, { value: next, expiresAt: before?.expiresAt ?? null });
  }
}

async function ask(port: KvPort, tenant: string, now: number, each: Command): Promise<unknown> {
  const call = write(tenant, { now });
  const place = 'key' in each ? { namespace: '', key: each.key } : { namespace: '', key: '' };
  switch (each.do) {
    case 'put': {
      const expiresAt = each.ttlMs === null ? null : now + each.ttlMs;
      return port.put({ ...place, value: each.value, expiresAt }, call);
    }
    case 'get':
      return port.get(place, read(tenant, now));
    case 'delete':
      return port.delete(place, call);
    case 'increment':
      return port.increment({ ...place, delta: each.delta }, call).catch(({ code }) => code);
    case 'swap':
      return port.compareAndSwap({ ...place, expected: each.expected, value: each.value }, call);
    case 'list':
      return port.list({ namespace: '', prefix: each.prefix, after: null, limit: 100 }, read(tenant, now));
    case 'wait':
      return null;
  }
}

export const kvModelProperty = (port: KvPort): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
      const tenant = freshTenant();
      const model = new Model();
      for (const each of commands) {
        const answer = await ask(port, tenant, model.now, each);
        assert.deepEqual(answer, model.apply(each));
      }
    }),
    { numRuns: 60 },
  );
