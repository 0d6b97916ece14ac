import { type Escape, memory, timeout } from './escape.ts';

const wasmGrowth = `const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
  for (;;) { memory.grow(256); new Uint8Array(memory.buffer).fill(1); }`;

/** Time and memory. */
export const RESOURCE_ESCAPES: readonly Escape[] = [
  { name: 'an endless loop', body: 'for (;;);', expected: timeout },
  { name: 'an endless loop when loading', before: 'for (;;);', body: '', expected: timeout },
  { name: 'a promise that never settles', body: 'await new Promise(() => {});', expected: timeout },
  { name: 'an endless chain of microtasks', body: 'for (;;) await null;', expected: timeout },
  {
    name: 'a regular expression that backtracks',
    body: `/^(a+)+$/.test('a'.repeat(40) + 'b');`,
    expected: timeout,
  },
  {
    name: 'Atomics.wait',
    body: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
    expected: timeout,
  },
  {
    name: 'ignoring the abort signal',
    body: `ctx.signal.addEventListener('abort', () => { for (;;); }); await new Promise(() => {});`,
    expected: timeout,
  },
  {
    name: 'a heap bomb',
    body: 'const all = []; for (;;) all.push(new Array(1000).fill(0.5));',
    expected: memory,
  },
  {
    name: 'a string bomb',
    body: `const all = []; for (;;) all.push('x'.repeat(1_000_000).split(''));`,
    expected: memory,
  },
  {
    name: 'a bomb outside of the heap',
    body: 'const all = []; for (;;) all.push(new Uint8Array(4_000_000).fill(1));',
    expected: memory,
  },
  {
    name: 'a slow bomb outside of the heap',
    body: 'const all = []; for (;;) { all.push(Buffer.alloc(1_000_000, 1)); await new Promise((resolve) => setTimeout(resolve, 1)); }',
    expected: memory,
  },
  {
    name: 'a bomb when loading',
    before: 'const all = []; for (;;) all.push(new Uint8Array(4_000_000).fill(1));',
    body: '',
    expected: memory,
  },
  { name: 'WASM memory growth', body: wasmGrowth, expected: memory },
];
