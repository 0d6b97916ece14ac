/** Node as it is: no permission model, no runner, every built-in module. */
import type { Dialect, HostileModule, StayingModule } from './hostile-module.ts';

const PRELUDE = `
const fs = require('fs'), os = require('os'), net = require('net'), child = require('child_process');
const { Worker } = require('worker_threads');
const say = (message) => {
  const text = Buffer.from(JSON.stringify([message, []]));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(text.length, 0); head.writeUInt32BE(text.length, 4);
  fs.writeSync(4, Buffer.concat([head, text]));
};
const event = (emitter, good, bad) => new Promise((resolve, reject) => {
  emitter.once(good, resolve).once(bad, (error) => reject(error instanceof Error ? error : new Error(bad)));
});
`;

const moduleOf = ({ body }: HostileModule): string => `async () => {\n${body}\nreturn true;\n}`;

export const JAVASCRIPT: Dialect = {
  together: (modules) =>
    `${PRELUDE}
const modules = [${modules.map((module) => `[${JSON.stringify(module.name)}, ${moduleOf(module)}]`).join(',\n')}];
(async () => {
  const said = [];
  for (const [name, run] of modules)
    try { said.push([name, (await run()) !== false, '']); } catch (error) { said.push([name, false, error.message]); }
  say(said);
})();`,
  alone: (module) =>
    `${PRELUDE}
(${moduleOf(module)})().catch(() => {}).finally(() => { try { say('there'); } catch {} for (;;); });`,
};

const SIGNALS: readonly HostileModule[] = [
  ['its group', '0'],
  ['everyone', '-1'],
  ['the first process', '1'],
  ['its parent', 'process.ppid'],
].map(([name, target]) => ({ name: `kill of ${name}`, body: `process.kill(${target}, 'SIGKILL')` }));

const PROCESSES: readonly HostileModule[] = [
  { name: 'a program', body: `await event(child.spawn('/node', ['-v']), 'exit', 'error')` },
  {
    name: 'a program without waiting',
    body: `const { error } = child.spawnSync('/node', ['-v']); if (error) throw error;`,
  },
  { name: 'a shell', body: `child.execSync('id')` },
  { name: 'a fork', body: `await event(child.fork('/runner/main.mjs'), 'exit', 'error')` },
  {
    name: 'a detached program',
    body: `await event(child.spawn('/node', ['-v'], { detached: true }), 'exit', 'error')`,
  },
  { name: 'another uid', body: 'process.setuid(0)' },
  { name: 'other groups', body: 'process.setgroups([0])' },
  { name: 'a higher priority', body: 'os.setPriority(0, -10)' },
  { name: 'a native module', body: `process.dlopen({ exports: {} }, '/pack/index.mjs')` },
];

const NETWORK: readonly HostileModule[] = [
  { name: 'a connection', body: `await event(net.connect(80, '127.0.0.1'), 'connect', 'error')` },
  { name: 'a server', body: `await event(net.createServer().listen(0), 'listening', 'error')` },
  { name: 'a local socket', body: `await event(net.createServer().listen('\\0x'), 'listening', 'error')` },
  {
    name: 'a datagram',
    body: `await event(require('dgram').createSocket('udp4').bind(0), 'listening', 'error')`,
  },
  { name: 'a name', body: `await require('dns').promises.resolve4('example.com')` },
  {
    name: 'the debugger',
    body: `const i = require('inspector'); i.open(0, '127.0.0.1'); if (!i.url()) throw new Error('not open');`,
  },
  { name: 'the interfaces', body: 'os.networkInterfaces()' },
];

const FILES: readonly HostileModule[] = [
  ...['/etc/passwd', '/proc/self/environ', '/proc/1/maps', '/dev/null', '/root', '/tmp', '/sys'].map(
    (file) => ({
      name: `the path ${file}`,
      body: `fs.statSync('${file}')`,
    }),
  ),
  ...['/x', '/pack/x', '/runner/main.mjs', '/dev/shm/x', '/tmp/x'].map((file) => ({
    name: `writing ${file}`,
    body: `fs.writeFileSync('${file}', 'x')`,
  })),
  { name: 'a database', body: `new (require('node:sqlite').DatabaseSync)('/x')` },
  { name: 'a watcher', body: `fs.watch('/pack')` },
  { name: 'a link', body: `fs.symlinkSync('/etc', '/pack/x')` },
  {
    name: 'a report',
    body: `if (!process.report.writeReport('/x.json') || !fs.existsSync('/x.json')) throw new Error('none');`,
  },
];

const MEMORY: readonly HostileModule[] = [
  { name: 'a block outside of the heap', body: 'Buffer.alloc(2 ** 31, 1)' },
  { name: 'a shared block', body: 'new Uint8Array(new SharedArrayBuffer(2 ** 31)).fill(1)' },
  {
    name: 'memory of WebAssembly',
    body: 'new Uint8Array(new WebAssembly.Memory({ initial: 32768 }).buffer).fill(1)',
  },
  {
    name: 'many descriptors',
    body: `const made = []; try { for (let i = 0; i < 1000; i++) made.push(fs.openSync('/node')); } finally { made.forEach((each) => fs.closeSync(each)); }`,
  },
];

/** What has to be refused. */
export const JAVASCRIPT_MODULES = {
  signals: SIGNALS,
  processes: PROCESSES,
  network: NETWORK,
  files: FILES,
  memory: MEMORY,
} as const;

/** What wants to stay when the host ends it. */
export const JAVASCRIPT_STAYING: readonly StayingModule[] = [
  {
    name: 'signals handled',
    body: `for (const each of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(each, () => {});`,
  },
  {
    name: 'its pipes closed',
    body: `say('there'); for (let each = 0; each < 6; each++) try { fs.closeSync(each); } catch {}`,
  },
  { name: 'threads', body: `for (let i = 0; i < 4; i++) new Worker('for (;;);', { eval: true });` },
];
