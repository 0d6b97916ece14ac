/** The registry: choosing versions, reading metadata beside a server of bare bytes, and archives passing through. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { archiveOf, lockOf, Registries, type Registry, resolvePacks } from '@gantry/packs';
import { residentMiB, type Server, startServer } from './children.ts';
import { medianOf, spreadOf } from './load/percentile.ts';
import { type ReadsResult, runReads } from './load/reads.ts';
import { type Report, type Row, round } from './report.ts';
import { API_KEY, freshFolder, targetOf } from './servers.ts';
import type { Settings } from './settings.ts';

const MIB = 1024 * 1024;
const RESOLVED_PACKS = 1_000;
const SERVED_PACKS = 50;
const VERSIONS_EACH = 4;
const CONNECTIONS = 32;
const ARCHIVE_FILES = 50;
const LOOK_EVERY_MS = 20;

/** Each pack needs up to three others further on; five versions of each. */
function manifests(packs: number): Registry {
  const nameOf = (at: number): string => `vendor.bench.pack-${at}`;
  const record = { integrity: `sha256-${'A'.repeat(43)}=`, publishedAt: '2026-05-01T00:00:00Z' };
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '2.0.0'];
  const url = 'https://packs.example';
  return {
    url,
    index: async (name) => ({ name, versions: versions.map((version) => ({ version, ...record })) }),
    async manifest(name, version) {
      const at = Number(name.slice(nameOf(0).length - 1));
      const further = [at + 1, at + 7, at * 2 + 3].filter((next) => next < packs);
      return {
        name,
        version,
        record,
        tarballUrl: `${url}/${name}-${version}.tgz`,
        requires: [],
        dependencies: Object.fromEntries(further.map((next) => [nameOf(next), '^1.0.0'])),
        peerDependencies: {},
      };
    },
    archive: async () => undefined,
    signature: async () => undefined,
    keys: async () => [],
    advisories: async () => [],
  };
}

async function resolveRow(rounds: number): Promise<Row> {
  const samples: number[] = [];
  for (let turn = 0; turn < rounds; turn++) {
    const registries = new Registries({ registries: [manifests(RESOLVED_PACKS)] });
    const roots = [{ name: 'vendor.bench.pack-0', range: '^1.0.0', requestedBy: 'bench' }];
    const startedAt = performance.now();
    const lock = await lockOf(await resolvePacks({ roots, registries }), registries);
    samples.push(performance.now() - startedAt);
    if (lock.packs.length !== RESOLVED_PACKS) throw new Error(`${lock.packs.length} packs were locked`);
  }
  return { what: `resolve and lock ${RESOLVED_PACKS} packs`, 'p50 ms': round(medianOf(samples)) };
}

const startRegistry = (folder: string): Promise<Server> =>
  startServer({
    args: [path.join(import.meta.dirname, 'registry-server.ts'), '--data', folder, '--port', '0'],
    env: { GANTRY_ADMIN_KEY: API_KEY, GANTRY_REGISTRY_UNSIGNED: '1', GANTRY_LOG: 'error' },
    readyPath: '/readyz',
  });

const startBytes = (file: string): Promise<Server> =>
  startServer({
    args: [path.join(import.meta.dirname, 'bare/bytes-server.ts'), '--file', file],
    readyPath: '/',
  });

async function archive(name: string, version: string, files: readonly Buffer[] = []): Promise<Buffer> {
  const manifest = {
    name,
    version,
    description: 'A pack that is read.',
    engines: { openwop: '>=1.0.0' },
    runtime: { language: 'javascript', entry: 'index.mjs' },
    nodes: Array.from({ length: 3 }, (_, at) => ({
      typeId: `${name}.node-${at}`,
      version,
      category: 'data',
      role: 'pure',
    })),
  };
  const entries: [string, Buffer][] = [
    ['pack.json', Buffer.from(JSON.stringify(manifest))],
    ['index.mjs', Buffer.from('export const nodes = {};')],
    ...files.map((bytes, at): [string, Buffer] => [`data/${at}.bin`, bytes]),
  ];
  return (await archiveOf(new Map(entries))).bytes;
}

const archivePath = (name: string, version: string): string => `/v1/packs/${name}/-/${version}.tgz`;

async function publish(server: Server, name: string, version: string, bytes: Buffer): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${archivePath(name, version)}`, {
    method: 'PUT',
    body: new Uint8Array(bytes),
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/gzip' },
  });
  if (answer.status !== 201) throw new Error(`publishing answered ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Paths of metadata, with what the registry answers. */
async function fill(server: Server): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (let at = 0; at < SERVED_PACKS; at++) {
    const name = `vendor.bench.pack-${at}`;
    for (let minor = 0; minor < VERSIONS_EACH; minor++)
      await publish(server, name, `1.${minor}.0`, await archive(name, `1.${minor}.0`));
    const address = `/v1/packs/${name}`;
    texts[address] = await (await fetch(`http://127.0.0.1:${server.port}${address}`)).text();
  }
  return texts;
}

function readsRow(what: string, rounds: readonly ReadsResult[], bare: number): Row {
  const perSecond = medianOf(rounds.map(({ readsPerSecond }) => readsPerSecond));
  const spread = spreadOf(rounds.flatMap(({ readMs }) => readMs));
  return {
    what,
    'per second': round(perSecond),
    'of bare': round(perSecond / bare),
    'p50 ms': round(spread?.p50),
    'p99 ms': round(spread?.p99),
    refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
  };
}

/** Rounds alternate, so that noise of the machine hits both. */
async function readRows(registry: Server, settings: Settings): Promise<Row[]> {
  const texts = await fill(registry);
  const file = path.join(freshFolder(settings.dataDir), 'texts.json');
  writeFileSync(file, JSON.stringify(texts));
  const bare = await startBytes(file);
  try {
    const reads = (server: Server, durationMs: number): Promise<ReadsResult> =>
      runReads({ ...targetOf(server), paths: Object.keys(texts), connections: CONNECTIONS, durationMs });
    for (const server of [bare, registry]) await reads(server, settings.warmUpMs);
    const [ofBare, ofRegistry]: [ReadsResult[], ReadsResult[]] = [[], []];
    for (let turn = 0; turn < settings.rounds; turn++) {
      ofBare.push(await reads(bare, settings.roundMs));
      ofRegistry.push(await reads(registry, settings.roundMs));
    }
    const limit = medianOf(ofBare.map(({ readsPerSecond }) => readsPerSecond));
    return [readsRow('bare node:http', ofBare, limit), readsRow('metadata reads', ofRegistry, limit)];
  } finally {
    await bare.stop();
  }
}

/** How long it takes, and how much more memory the registry has at the worst moment. */
async function passing(
  what: string,
  server: Server,
  mebibytes: number,
  work: () => Promise<void>,
): Promise<Row> {
  const before = residentMiB(server.pid) ?? 0;
  let most = before;
  const look = setInterval(() => {
    most = Math.max(most, residentMiB(server.pid) ?? 0);
  }, LOOK_EVERY_MS);
  const startedAt = performance.now();
  await work().finally(() => clearInterval(look));
  const seconds = (performance.now() - startedAt) / 1000;
  return { what, 'MiB/s': round(mebibytes / seconds), 'added MiB': round(most - before) };
}

function download(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(`http://127.0.0.1:${server.port}${address}`, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve(bytes));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

async function archiveRows(server: Server): Promise<Row[]> {
  const name = 'vendor.bench.large';
  const noise = Array.from({ length: ARCHIVE_FILES }, () => randomBytes(MIB));
  const bytes = await archive(name, '1.0.0', noise);
  const mebibytes = bytes.length / MIB;
  const size = `${Math.round(mebibytes)} MiB`;
  return [
    await passing(`publish ${size}`, server, mebibytes, () => publish(server, name, '1.0.0', bytes)),
    await passing(`read ${size}`, server, mebibytes, async () => {
      const received = await download(server, archivePath(name, '1.0.0'));
      if (received !== bytes.length) throw new Error(`${received} of ${bytes.length} bytes arrived`);
    }),
  ];
}

export async function registry(settings: Settings): Promise<Report> {
  const resolved = await resolveRow(settings.rounds);
  const server = await startRegistry(freshFolder(settings.dataDir));
  try {
    const reads = await readRows(server, settings);
    return { title: 'Registry', rows: [resolved, ...reads, ...(await archiveRows(server))] };
  } finally {
    await server.stop();
  }
}
