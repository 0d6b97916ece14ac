// The part of the sweep that runs code: loads node types in the sandbox, with no grants and base members only.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEgress, PUBLIC_POLICY } from '@gantry/egress';
import { normalizePath } from '@gantry/packs';
import { createSandbox } from '@gantry/sandbox';
import { readSchemaText } from '../packages/host/src/packs/artifact-types/artifact-type-record.ts';
import { compileUserSchema } from '../packages/host/src/workflows/user-schema.ts';
import { sampleFor } from './sweep-sample.ts';

const LIMITS = { memoryBytes: 128 * 1024 * 1024, wallClockMs: 10_000, outputBytes: 1024 * 1024 };
const NOBODY = { tenant: 'sweep', workspace: 'sweep', principal: 'sweep' };

/** Throws `SandboxUnavailable` on a machine without an OS sandbox. */
export async function openSandboxLoader() {
  const workDir = await mkdtemp(path.join(tmpdir(), 'gantry-sweep-'));
  const sandbox = await createSandbox({
    isolation: 'os',
    workDir: path.join(workDir, 'sandbox'),
    warmMax: 2,
    idleMs: 2000,
    egress: createEgress({ policy: PUBLIC_POLICY }),
    now: Date.now,
    log: () => undefined,
  });
  let current;
  return {
    /** Packs come one after the other, so the last one is all that is kept. */
    async loadNodeType(pack, typeId) {
      if (current?.integrity !== pack.archive.integrity) current = await prepare(sandbox, workDir, pack);
      const { code, inspection } = current;
      if (!inspection.loaded) return { state: 'failed', reason: describe(inspection.error) };
      if (!inspection.typeIds.includes(typeId))
        return { state: 'failed', reason: 'the module does not export it' };
      return await run(sandbox, code, pack, typeId);
    },
    async stop() {
      await sandbox.stop();
      await rm(workDir, { recursive: true, force: true });
    },
  };
}

const describe = ({ code, message }) => `${code}: ${message}`;

async function prepare(sandbox, workDir, { manifest, archive }) {
  const { name, version, runtime } = manifest;
  const folder = path.join(workDir, `${name}@${version}`);
  for (const [file, bytes] of archive.files) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), bytes);
  }
  const { language, entry, wasm } = runtime;
  const code = { name, version, folder, entry: normalizePath(entry), language, ...(wasm ? { wasm } : {}) };
  const isRemote = language === 'remote';
  const error = { code: 'unsupported_runtime', message: 'remote packs are not called by a sweep' };
  const inspection = isRemote ? { loaded: false, error } : await sandbox.inspect(code);
  return { integrity: archive.integrity, code, inspection };
}

async function run(sandbox, code, { manifest, archive }, typeId) {
  const node = manifest.nodes.find((candidate) => candidate.typeId === typeId);
  const sample = (ref) => sampleFor(ref && archive.files.get(normalizePath(ref)));
  const { result } = await sandbox.invoke({
    code,
    key: NOBODY,
    grants: [],
    typeId,
    ctx: {
      runId: 'run-sweep',
      nodeId: 'node-sweep',
      attempt: 1,
      inputs: sample(node.inputSchemaRef),
      config: sample(node.configSchemaRef),
      trustBoundary: 'trusted',
      configurable: {},
    },
    variables: {},
    answers: {},
    limits: LIMITS,
    surfaces: {},
    call: () => Promise.reject(new Error('nothing is offered')),
    emit: () => undefined,
    log: () => undefined,
  });
  if (result.status === 'error') return { state: 'loaded', reason: describe(result.error) };
  const misfit = result.status === 'success' ? misfitOf(node, archive, result.outputs) : undefined;
  return { state: 'ran', ...(misfit && { misfit }) };
}

/** As a host judges it, where the schema can be used. */
function misfitOf({ outputSchemaRef: ref }, { files }, outputs) {
  if (ref === undefined) return;
  const reading = readSchemaText(Buffer.from(files.get(normalizePath(ref))).toString('utf8'));
  const misfit = reading.usable ? compileUserSchema(reading.schema)(outputs) : undefined;
  return misfit && `${misfit.path || '/'} ${misfit.message}`;
}
