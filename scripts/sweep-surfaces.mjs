// Installs the public data packs into a real host and runs their nodes on its surfaces, one workflow each.
// node scripts/sweep-surfaces.mjs <registry folder>
// Settings in the environment, such as GANTRY_KV, choose the backends.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { normalizePath, readArchive } from '@gantry/packs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createHost } from '../packages/host/src/host.ts';
import { readSettings } from '../packages/host/src/settings.ts';
import { surfaceCases } from './sweep-surfaces-cases.mjs';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Which registry? node scripts/sweep-surfaces.mjs <registry folder>');
  process.exit(2);
}

const KEY = 'gk_test_sweep_0123456789abcdef0123456789abcdef';
const POLL_SECONDS = 10;

async function openHost(dataDir) {
  const environment = { GANTRY_ADMIN_KEY: KEY, GANTRY_LOG: 'error', GANTRY_PORT: '0' };
  const own = { ...environment, GANTRY_REGISTRY_URL: path.resolve(folder) };
  const settings = readSettings([], { ...process.env, ...own });
  const workflowsDir = path.join(dataDir, 'workflows');
  const host = await createHost({ settings: { ...settings, dataDir, workflowsDir } });
  await host.services.start();
  const ask = async (method, url, body) => {
    const headers = { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) };
    const payload = body && JSON.stringify(body);
    const response = await host.app.inject({ method, url, headers, ...(payload && { payload }) });
    if (response.statusCode < 300) return response.json();
    const { error, message } = response.json();
    throw new Error(`${error}: ${message}`);
  };
  return { ask, stop: () => host.stop() };
}

/** What the run of one node gave; throws with what its failure said. */
async function runNode(ask, id, typeId, config, inputs) {
  const ports = Object.entries(inputs).map(([name, value]) => [name, { type: 'static', value }]);
  const node = {
    id: 'n',
    typeId,
    name: 'n',
    position: { x: 0, y: 0 },
    config,
    inputs: Object.fromEntries(ports),
  };
  const empty = { edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
  await ask('POST', '/v1/host/gantry/workflows', { id, name: id, version: '1.0.0', nodes: [node], ...empty });
  const { runId } = await ask('POST', '/v1/runs', { workflowId: id });
  const events = [];
  for (let isTerminal = false; !isTerminal; ) {
    const after = events.length === 0 ? '' : `&lastSequence=${events.length - 1}`;
    const polled = await ask('GET', `/v1/runs/${runId}/events/poll?timeout=${POLL_SECONDS}${after}`);
    events.push(...polled.events);
    ({ isTerminal } = polled);
  }
  const failed = events.find(({ type }) => type === 'node.failed');
  if (failed) throw new Error(`${failed.payload.error.code}: ${failed.payload.error.message}`);
  return events.find(({ type }) => type === 'node.completed').payload.outputs;
}

/** The first member that is not as expected. */
function misfit(expected, outputs) {
  const wrong = Object.entries(expected).find(([name, value]) =>
    typeof value === 'function' ? !value(outputs[name]) : !isDeepStrictEqual(outputs[name], value),
  );
  return wrong && `${wrong[0]} is ${JSON.stringify(outputs[wrong[0]])?.slice(0, 120)}`;
}

/** Of what a node gives. Packs close their schemas; answers carry the members of the contract as well. */
async function outputSchemas(name, version) {
  const file = path.join(folder, 'v1', 'packs', name, '-', `${version}.tgz`);
  const archive = await readArchive(await readFile(file));
  const compile = (schema) =>
    new Ajv2020({ removeAdditional: 'all', strict: false, logger: false }).compile(schema);
  const read = (ref) => JSON.parse(Buffer.from(archive.files.get(normalizePath(ref))).toString('utf8'));
  const { nodes } = JSON.parse(Buffer.from(archive.manifestBytes).toString('utf8'));
  const described = nodes.filter(({ outputSchemaRef }) => outputSchemaRef);
  return new Map(described.map((node) => [node.typeId, compile(read(node.outputSchemaRef))]));
}

function shapeOf(check, outputs) {
  if (!check || check(structuredClone(outputs))) return undefined;
  const [{ instancePath, message }] = check.errors;
  return `the outputs${instancePath} ${message}`;
}

async function judge({ run, given, schemas }, [typeId, config, inputs, expected]) {
  try {
    const values = typeof inputs === 'function' ? await inputs({ run, given }) : inputs;
    const outputs = await run(typeId, config, values);
    given[typeId] = outputs;
    return shapeOf(schemas.get(typeId), outputs) ?? misfit(expected ?? {}, outputs);
  } catch (error) {
    return error.message;
  }
}

async function* sweepPack({ ask, given, next }, [name, cases, awaited]) {
  const grant = ['net.outbound', 'net.dns'];
  const installed = await ask('POST', '/v1/host/gantry/packs', { name, grant }).catch(
    ({ message }) => message,
  );
  if (typeof installed === 'string') {
    const isAwaited = installed.startsWith('pack_peer_dependency_missing') && installed.includes(awaited);
    return yield { state: isAwaited ? 'later' : 'FAILS', typeId: name, problem: installed };
  }
  const schemas = await outputSchemas(name, installed.version);
  const run = (typeId, config, inputs) => runNode(ask, `sweep-${next()}`, typeId, config, inputs);
  for (const each of cases) {
    const [typeId, , , expected] = each;
    const problem = await judge({ run, given, schemas }, each);
    const isAwaited = expected === null && problem?.startsWith('HOST_CAPABILITY_MISSING');
    yield { state: problem === undefined ? 'ok' : isAwaited ? 'later' : 'FAILS', typeId, problem };
  }
}

const dataDir = await mkdtemp(path.join(tmpdir(), 'gantry-sweep-'));
const { ask, stop } = await openHost(dataDir);
let count = 0;
const sweep = { ask, given: {}, next: () => ++count };
const counts = { ok: 0, later: 0, FAILS: 0 };
try {
  for (const pack of await surfaceCases()) {
    for await (const { state, typeId, problem = '' } of sweepPack(sweep, pack)) {
      console.log([state, typeId, problem].join('\t'));
      counts[state]++;
    }
  }
} finally {
  await stop();
  await rm(dataDir, { recursive: true, force: true });
}
console.log(
  Object.entries(counts)
    .map(([state, times]) => `${state} ${times}`)
    .join(', '),
);
process.exit(counts.FAILS === 0 ? 0 : 1);
