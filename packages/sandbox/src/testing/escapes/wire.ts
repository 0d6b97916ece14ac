import { attempt, type Escape, failed } from './escape.ts';

const cyclic = `const a = {}; a.a = a;`;
const deep = `let a = 1; for (let i = 0; i < 1000; i++) a = [a];`;

/** Through the channel: what may be said, how much and how deep. */
export const WIRE_ESCAPES: readonly Escape[] = [
  {
    name: 'a result larger than allowed',
    body: `return { text: 'x'.repeat(2 * 1024 * 1024) };`,
    expected: failed,
  },
  {
    name: 'a result larger than a frame',
    body: `return { bytes: new Uint8Array(20 * 1024 * 1024) };`,
    expected: failed,
  },
  { name: 'a result without end', body: `${cyclic} return a;`, expected: failed },
  { name: 'a result that is too deep', body: `${deep} return { a };`, expected: failed },
  { name: 'a result with a BigInt', body: `return { a: 1n };`, expected: failed },
  {
    name: 'a result whose getter throws',
    body: `return { get a() { throw new Error('no'); } };`,
    expected: failed,
  },
  {
    name: 'an error whose getters throw',
    body: `throw { get message() { throw 1; }, get code() { throw 2; } };`,
    expected: failed,
  },
  { name: 'an error with a huge message', body: `throw new Error('x'.repeat(500_000));`, expected: failed },
  {
    name: 'a flood of logs',
    body: `for (let i = 0; i < 100_000; i++) ctx.log('info', 'x'.repeat(100)); return { escaped: false };`,
    expected: 'contained',
  },
  {
    name: 'a log that is too large',
    body: `ctx.log('info', 'x', { a: 'y'.repeat(20_000_000) }); return { escaped: false };`,
    expected: 'contained',
  },
  {
    name: 'a flood of events',
    body: `for (let i = 0; i < 20_000; i++) await ctx.emit({ type: 'x', data: i }); return { escaped: false };`,
    expected: 'contained',
  },
  {
    name: 'a flood of events nobody waits for',
    body: `for (let i = 0; i < 20_000; i++) ctx.emit({ type: 'x', data: i }); return { escaped: false };`,
    expected: 'contained',
  },
  {
    name: 'a flood of calls',
    body: `const all = []; for (let i = 0; i < 5_000; i++) all.push(ctx.echo({ i }).catch(() => {})); await Promise.all(all); return { escaped: false };`,
    expected: 'contained',
  },
  {
    name: 'an event that is too large',
    body: attempt(`await ctx.emit({ a: 'y'.repeat(20_000_000) })`),
    expected: 'contained',
  },
  { name: 'a call with a cycle', body: attempt(`${cyclic} await ctx.echo(a)`), expected: 'contained' },
  {
    name: 'a flood of stdout',
    body: `for (let i = 0; i < 10_000; i++) process.stdout.write('x'.repeat(1000)); return { escaped: false };`,
    expected: 'contained',
  },
  {
    name: 'a call after the end',
    body: `const { echo } = ctx; setTimeout(() => echo({ late: true }).catch(() => {}), 1); return { escaped: false };`,
    expected: 'contained',
  },
  {
    name: 'a surface that was not offered',
    body: attempt(`await ctx.storage.kv.get({ key: 'x' })`),
    expected: 'contained',
  },
  {
    name: 'a promise that nobody waits for',
    body: `Promise.reject(new Error('lost')); await new Promise((resolve) => setTimeout(resolve, 1000));`,
    expected: failed,
  },
  {
    name: 'an error in a timer',
    body: `setTimeout(() => { throw new Error('later'); }, 1); await new Promise((resolve) => setTimeout(resolve, 1000));`,
    expected: failed,
  },
];
