import { attempt, type Escape, refused, stopped } from './escape.ts';

const kind = stopped('host-process-escape');
const ofModule = (name: string): Escape => ({
  name: `module ${name}`,
  body: `await import('node:${name}')`,
  expected: kind,
});

/** Other processes, threads, debuggers, native code and whatever else a process can do to its surroundings. */
export const PROCESS_ESCAPES: readonly Escape[] = [
  ...[
    'child_process',
    'cluster',
    'worker_threads',
    'inspector',
    'v8',
    'vm',
    'wasi',
    'module',
    'trace_events',
  ].map(ofModule),
  ...['diagnostics_channel', 'async_hooks', 'repl', 'test', 'sea'].map(ofModule),
  {
    name: 'AsyncResource by events',
    before: `import events from 'node:events';`,
    body: `return { escaped: events.EventEmitterAsyncResource !== undefined || process.getBuiltinModule('events').EventEmitterAsyncResource !== undefined };`,
    expected: 'contained',
  },
  {
    name: 'child_process when loading',
    before: `import { execSync } from 'child_process';`,
    body: `execSync('id')`,
    expected: kind,
  },
  {
    name: 'subprocess even when granted',
    body: `await import('node:child_process')`,
    grants: ['subprocess'],
    expected: kind,
  },
  {
    name: 'getBuiltinModule child_process',
    body: `process.getBuiltinModule('child_process').execSync('id')`,
    expected: kind,
  },
  {
    name: 'getBuiltinModule module',
    body: `process.getBuiltinModule('module').createRequire('/x')('fs')`,
    expected: kind,
  },
  { name: 'process.binding', body: `process.binding('fs')`, expected: kind },
  { name: 'process.dlopen', body: `process.dlopen({ exports: {} }, '/pack/x.node')`, expected: kind },
  { name: 'killing the parent', body: `process.kill(0, 'SIGKILL')`, expected: kind },
  { name: 'process.exit', body: 'process.exit(0)', expected: kind },
  { name: 'process.abort', body: 'process.abort()', expected: kind },
  { name: 'process.execve', body: `process.execve('/bin/sh', ['sh'])`, expected: kind },
  { name: 'setuid', body: 'process.setuid(0)', expected: kind },
  { name: 'a diagnostic report', body: `process.report.writeReport('/x')`, expected: kind },
  { name: 'loading an env file', body: `process.loadEnvFile('/x')`, expected: kind },
  { name: 'the debugger', body: `process._debugProcess(1)`, expected: kind },
  {
    name: 'the real process by its constructor',
    body: attempt(`process.constructor.constructor('return process')().mainModule.require('fs')`),
    expected: kind,
  },
  {
    name: 'the real process by Function',
    body: attempt(`new Function('return process')().reallyExit(1)`),
    expected: kind,
  },
  {
    name: 'import in made code',
    body: `await new Function('return import("node:child_process")')()`,
    expected: kind,
  },
  { name: 'import in eval', body: `await (0, eval)('import("node:worker_threads")')`, expected: kind },
  { name: 'os details', body: `await import('node:os')`, expected: refused },
  { name: 'terminal', body: `await import('node:tty')`, expected: refused },
  { name: 'an addon', body: attempt(`(await import('./x.node'))`), expected: 'contained' },
  {
    name: 'the host environment',
    body: `return { escaped: Object.keys(process.env).length > 0 || process.env.PATH !== undefined };`,
    expected: 'contained',
  },
  {
    name: 'the host environment when env.read is granted',
    body: `return { escaped: process.env.PATH !== undefined };`,
    grants: ['env.read'],
    expected: 'contained',
  },
  {
    name: 'the socket behind console',
    body: `return { escaped: console._stdout !== undefined || process.stdout.constructor !== Object };`,
    expected: 'contained',
  },
  {
    name: 'the call stack',
    body: `let sites = []; try { Error.prepareStackTrace = (_, found) => found; sites = new Error('x').stack; } catch {} return { escaped: Array.isArray(sites) && sites.some((site) => site.getThis()?.reallyExit !== undefined || site.getFunction() !== undefined) };`,
    expected: 'contained',
  },
];
