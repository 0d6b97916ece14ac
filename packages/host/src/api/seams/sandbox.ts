/** Loads and runs code in the sandbox that packs run in, outside any run. */

import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Api } from '@gantry/http';
import { type JsonObject, OpenwopError, ownerOf, Values } from '@gantry/protocol';
import type { NodeResult, PackCode } from '@gantry/sandbox';
import Type, { type Static } from 'typebox';
import type { Members } from '../../packs/node-controls/members.ts';
import type { Packs } from '../../packs/packs.ts';
import { seam } from './seam.ts';
import type { MembersOutside } from './surfaces/outside-runs.ts';

const Id = Type.String({ minLength: 1, maxLength: 256 });

const Load = Type.Object({ packId: Id });
const Invoke = Type.Object({
  typeId: Id,
  args: Type.Optional(Values),
  packId: Type.Optional(Id),
  allowedHostCalls: Type.Optional(Type.Array(Id, { maxItems: 50 })),
});

const PROBE: PackCode = {
  name: 'vendor.gantry.sandbox-probe',
  version: '1.0.0',
  entry: 'index.mjs',
  language: 'javascript',
  folder: fileURLToPath(new URL('./sandbox-probe', import.meta.url)),
};
const PROBES = ['misbehave', 'well-behaved'];
/** The probe may use its own folder, so that the test is leaving it. */
const PROBE_GRANTS = ['fs.read', 'fs.write'];
/** The suite expects an endless loop to end soon, so this is lower than the limit of pack nodes. */
const WALL_CLOCK_MS_MAX = 2_000;
const OUTPUT_BYTES_MAX = 1_048_576;

/** Host calls by the names of the seam, with the grants of packs. */
const GRANT_OF: Readonly<Record<string, string>> = {
  fetch: 'net.outbound',
  'host.fetch': 'net.outbound',
  dns: 'net.dns',
};

export function sandboxSeams(app: Api, packs: Packs, outside: MembersOutside): void {
  seam(app, 'test/sandbox-load', Load, async ({ tenant }, { packId }) => {
    const code = await codeOf(packs, tenant, packId, packId);
    const inspection = await (await packs.sandboxes.for('archive')).inspect(code);
    if (inspection.loaded) return { ok: true, packId, typeIds: [...inspection.typeIds] };
    const { message } = inspection.error;
    throw new OpenwopError('pack_load_failure', { message, details: { packId } });
  });
  seam(app, 'test/sandbox-invoke', Invoke, ({ tenant, principal }, body) => {
    const signal = AbortSignal.timeout(packs.limits.wallClockMs + WALL_CLOCK_MS_MAX);
    const { call } = outside({ tenant, principal }, signal);
    return invoke(packs, tenant, body, call);
  });
}

async function invoke(
  packs: Packs,
  tenant: string,
  request: Static<typeof Invoke>,
  call: Members['call'],
): Promise<object> {
  const { typeId, args = {}, packId = typeId, allowedHostCalls = [] } = request;
  const sandbox = await packs.sandboxes.for('archive');
  const { memoryBytes, wallClockMs } = packs.limits;
  const code = await codeOf(packs, tenant, packId, typeId);
  const { result } = await sandbox.invoke({
    code,
    // A new principal for each call, so that calls share no state.
    key: ownerOf({ tenant, principal: randomUUID() }),
    grants: [
      ...allowedHostCalls.flatMap((call) => GRANT_OF[call] ?? []),
      ...(code === PROBE ? PROBE_GRANTS : []),
    ],
    typeId,
    ctx: {
      runId: 'seam',
      nodeId: 'seam',
      attempt: 0,
      inputs: args as JsonObject,
      config: {},
      configurable: {},
      trustBoundary: 'untrusted',
    },
    variables: {},
    answers: {},
    surfaces: {},
    repeatable: true,
    limits: {
      memoryBytes,
      wallClockMs: Math.min(wallClockMs, WALL_CLOCK_MS_MAX),
      loadMs: wallClockMs,
      outputBytes: OUTPUT_BYTES_MAX,
    },
    call,
    emit() {},
    log() {},
  });
  return answerOf(result);
}

function answerOf(result: NodeResult): object {
  if (result.status === 'success') return { result: result.outputs };
  if (result.status !== 'error') return { result };
  const { code, message, details } = result.error;
  if (code === 'host_capability_missing') return { error: deniedCall(message, details) };
  return { error: { code, message, details: { ...details, message } } };
}

/** For a denied call, packs see a missing member. The suite expects a denial with the name of the member. */
const deniedCall = (message: string, details: JsonObject = {}): JsonObject => ({
  code: 'sandbox_capability_denied',
  message,
  details: { ...details, message, requestedCapability: String(details.capability).replace(/^host\./, '') },
});

/** The probe, or an installed pack by its name or by one of its types. */
async function codeOf(packs: Packs, tenant: string, packId: string, typeId: string): Promise<PackCode> {
  if (PROBES.includes(packId.split('.')[0]!)) return PROBE;
  const found = (await packs.records.installed(tenant)).find(
    ({ record }) => record.name === packId || record.typeIds.includes(typeId),
  );
  const version = found && (await packs.records.version(found.record.integrity));
  if (!version?.code || version.code.language === 'remote') throw new OpenwopError('pack_not_found');
  const { memoryPagesMax, ...code } = version.code;
  return {
    ...code,
    name: version.name,
    version: version.version,
    ...(memoryPagesMax !== undefined && { wasm: { memoryPagesMax } }),
    folder: await packs.folders.folderOf(version),
  };
}
