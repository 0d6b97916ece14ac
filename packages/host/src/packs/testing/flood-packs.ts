/** Packs of a tenant that floods the host, each node in its own way. */
import { archiveOf } from '@gantry/packs';
import { packArchive } from './pack-archive.ts';

const forever = (body: string): string => `for (;;) { ${body} }`;
const files = `const fs = await import('node:fs/promises'); await fs.writeFile('large', new Uint8Array(8 * 1024 * 1024));`;

/** Each has its process for itself, since it may act. By what they do; the last two speak for themselves past the runner. */
const JAVASCRIPT: Readonly<Record<string, string>> = {
  busy: forever(''),
  logs: forever(
    `ctx.log('info', 'x'.repeat(8000), { text: 'y'.repeat(50000) }); await new Promise(setImmediate);`,
  ),
  churn: `process.exit(1);`,
  files: `${files} ${forever(`await Promise.all(Array.from({ length: 64 }, () => fs.readFile('large')));`)}`,
  dns: forever(
    `await Promise.all(Array.from({ length: 64 }, (_, n) => fetch('https://n' + n + Math.random() + '.slow.example/').catch(() => {})));`,
  ),
  results: `return { text: 'x'.repeat(3_000_000), list: Array.from({ length: 100_000 }, (_, n) => n) };`,
};

const PYTHON = `
import os
import struct
import time

def raw(data):
    while data:
        data = data[os.write(4, data):]

def frames(ctx):
    text = b'[{"type":"late","id":"x"},[]]'
    many = (struct.pack('>II', len(text), len(text)) + text) * 1000
    while True:
        raw(many)

def half(ctx):
    raw(struct.pack('>II', 40 * 1024 * 1024, 10 * 1024 * 1024))
    time.sleep(3600)

nodes = {'vendor.flood.frames': frames, 'vendor.flood.half': half}
`;

export const WAYS = ['busy', 'frames', 'half', 'logs', 'churn', 'files', 'dns', 'results'] as const;
export type Way = (typeof WAYS)[number];

export const FLOOD_GRANTS = '?grant=fs.read,fs.write,net.outbound';

export async function floodArchives(): Promise<Buffer[]> {
  const nodes = Object.entries(JAVASCRIPT).map(
    ([way, body]) => [`vendor.flood.${way}`, { body, role: 'side-effect' }] as const,
  );
  const requires = ['fs.read', 'fs.write', 'net.outbound'];
  const javascript = await packArchive({
    name: 'vendor.flood.js',
    requires,
    nodes: Object.fromEntries(nodes),
  });
  const declared = ['frames', 'half'].map((way) => ({
    typeId: `vendor.flood.${way}`,
    version: '1.0.0',
    category: 'data',
    role: 'pure',
  }));
  const manifest = {
    name: 'vendor.flood.py',
    version: '1.0.0',
    engines: { openwop: '>=1.0.0 <2.0.0' },
    runtime: { language: 'python', entry: 'main.py' },
    nodes: declared,
  };
  const python = await archiveOf(
    new Map([
      ['pack.json', Buffer.from(JSON.stringify(manifest))],
      ['main.py', Buffer.from(PYTHON)],
    ]),
  );
  return [javascript.bytes, python.bytes];
}
