import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import fc from 'fast-check';
import { type PatchStep, patchBetween } from './a2ui.ts';

/** RFC 6902, for the steps that are made here. */
function patched(document: Json, steps: readonly PatchStep[]): Json {
  const root: { value: Json } = { value: structuredClone(document) };
  for (const step of steps) {
    const names = step.path
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const parents = ['value', ...names];
    const last = parents.pop()!;
    const at = parents.reduce<Json>((value, name) => (value as JsonObject)[name]!, root);
    if (Array.isArray(at)) {
      const index = Number(last);
      assert.ok(index >= 0 && index <= at.length, step.path);
      at.splice(index, step.op === 'add' ? 0 : 1, ...(step.op === 'remove' ? [] : [step.value]));
    } else if (step.op === 'remove') delete (at as JsonObject)[last];
    // Assigning `__proto__` would set a prototype
    else
      Object.defineProperty(at, last, {
        value: step.value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return root.value;
}

test('a patch makes the one out of the other', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
  fc.assert(
    fc.property(json, json, (before, after) => {
      assert.deepEqual(patched(before, patchBetween(before, after)), after);
      assert.deepEqual(patchBetween(after, after), []);
    }),
  );
});

test('a component added at the top is one step', () => {
  const components = [1, 2, 3].map((text) => ({ component: 'text', text: `${text}` }));
  const added = [{ component: 'heading', text: 'new' }, ...components];
  assert.deepEqual(patchBetween({ components }, { components: added }), [
    { op: 'add', path: '/components/0', value: added[0] },
  ]);
});
