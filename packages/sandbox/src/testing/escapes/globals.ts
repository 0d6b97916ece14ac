import { attempt, type Escape, failed } from './escape.ts';

/** What one run could leave behind for the next, or do to the runner beside it. */
export const GLOBAL_ESCAPES: readonly Escape[] = [
  {
    name: 'patched JSON.stringify',
    body: attempt(`JSON.stringify = () => '[{"type":"result"}]'`),
    expected: 'contained',
  },
  {
    name: 'patched Promise.prototype.then',
    body: attempt(`Promise.prototype.then = () => {}`),
    expected: 'contained',
  },
  {
    name: 'patched Array.prototype.push',
    body: attempt(`Array.prototype.push = () => 0`),
    expected: 'contained',
  },
  {
    name: 'patched Map.prototype.get',
    body: attempt(`Map.prototype.get = () => undefined`),
    expected: 'contained',
  },
  {
    name: 'replaced JSON',
    body: attempt(`globalThis.JSON = { stringify: () => '' }; if (JSON.parse) throw new Error('kept')`),
    expected: 'contained',
  },
  {
    name: 'redefined Uint8Array',
    body: attempt(`Object.defineProperty(globalThis, 'Uint8Array', { value: class {} })`),
    expected: 'contained',
  },
  {
    name: 'polluted Object.prototype',
    body: attempt(`Object.prototype.type = 'result'`),
    expected: 'contained',
  },
  {
    name: 'polluted by __proto__',
    body: attempt(`({}).__proto__.ok = true; if (({}).ok === undefined) throw new Error('kept')`),
    expected: 'contained',
  },
  {
    name: 'patched Buffer',
    before: `import { Buffer } from 'node:buffer';`,
    body: attempt(`Buffer.from = () => 'x'`),
    expected: 'contained',
  },
  {
    name: 'patched EventEmitter',
    before: `import { EventEmitter } from 'node:events';`,
    body: attempt(`EventEmitter.prototype.emit = function () { globalThis.leak = this; }`),
    expected: 'contained',
  },
  {
    name: 'patched util.format',
    before: `import util from 'node:util';`,
    body: attempt(`util.format = () => 'x'`),
    expected: 'contained',
  },
  {
    name: 'patched crypto',
    before: `import crypto from 'node:crypto';`,
    body: attempt(`crypto.createHash = () => 'x'`),
    expected: 'contained',
  },
  {
    name: 'replaced process',
    body: attempt(`globalThis.process = {}; if (process.env) throw new Error('kept')`),
    expected: 'contained',
  },
  {
    name: 'replaced fetch',
    body: attempt(`Object.defineProperty(globalThis, 'fetch', { value: 1 })`),
    expected: 'contained',
  },
  {
    name: 'a thenable as result',
    body: `return { then(resolve) { resolve({ status: 'success', outputs: { escaped: false } }); resolve({ outputs: { escaped: true } }); } };`,
    expected: 'contained',
  },
  {
    name: 'a result that pollutes the host',
    body: `return { outputs: { escaped: false, ['__proto__']: { polluted: true }, nested: JSON.parse('{"__proto__":{"polluted":true}}') } };`,
    expected: failed,
  },
  {
    name: 'a variable that pollutes the host',
    body: `ctx.variables.set('__proto__', { polluted: true }); return { escaped: false };`,
    expected: failed,
  },
  {
    name: 'another run by ctx',
    body: `ctx.runId = 'run-2'; ctx.nodeId = 'other'; return { escaped: false };`,
    expected: 'contained',
  },
];
