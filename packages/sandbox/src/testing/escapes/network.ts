import { attempt, type Escape, refused, stopped } from './escape.ts';

const kind = stopped('network-escape');
const ofModule = (name: string): Escape => ({
  name: `module ${name}`,
  body: `await import('node:${name}')`,
  expected: kind,
});

export const NETWORK_ESCAPES: readonly Escape[] = [
  ...['net', 'tls', 'http', 'https', 'http2', 'dgram'].map(ofModule),
  {
    name: 'a unix socket when loading',
    before: `import net from 'node:net';`,
    body: `net.connect('/run/docker.sock')`,
    expected: kind,
  },
  {
    name: 'net even when net.outbound is granted',
    body: `await import('node:net')`,
    grants: ['net.outbound'],
    expected: kind,
  },
  { name: 'fetch without a grant', body: `await fetch('http://169.254.169.254/')`, expected: refused },
  {
    name: 'dns without a grant',
    before: `import { lookup } from 'node:dns/promises';`,
    body: `await lookup('secret.example.com')`,
    expected: refused,
  },
  {
    name: 'dns by callback without a grant',
    before: `import dns from 'node:dns';`,
    body: `await new Promise((resolve, reject) => dns.lookup('a.example.com', (error) => reject(error)))`,
    expected: refused,
  },
  {
    name: 'fetch with net.dns only',
    body: `await fetch('https://example.com/')`,
    grants: ['net.dns'],
    expected: refused,
  },
  {
    name: 'the metadata service with a grant',
    body: `await fetch('http://169.254.169.254/latest/meta-data/')`,
    grants: ['net.outbound'],
    expected: { code: 'address_not_allowed' },
  },
  {
    name: 'a file URL with a grant',
    body: `await fetch('file:///etc/passwd')`,
    grants: ['net.outbound'],
    expected: { code: 'scheme_not_allowed' },
  },
  { name: 'import over https', body: `await import('https://example.com/x.mjs')`, expected: kind },
  {
    name: 'import of a data URL',
    body: `await import('data:text/javascript,export default 1')`,
    expected: refused,
  },
  { name: 'WebSocket', body: attempt(`new WebSocket('ws://127.0.0.1:1/')`), expected: 'contained' },
  { name: 'EventSource', body: attempt(`new EventSource('http://127.0.0.1:1/')`), expected: 'contained' },
  { name: 'BroadcastChannel', body: attempt(`new BroadcastChannel('x')`), expected: 'contained' },
  {
    name: 'the dispatcher behind fetch',
    body: `new Response('x'); const found = globalThis[Symbol.for('undici.globalDispatcher.1')]; try { await found.request({ origin: 'http://127.0.0.1:80', path: '/', method: 'GET' }); return { escaped: true }; } catch (error) { return { escaped: false }; }`,
    expected: 'contained',
  },
];
