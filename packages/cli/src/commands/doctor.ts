import { ApiError } from '@gantry/client';
import { type BackendHealth, CONNECTOR_LIMITS, profilesOf, type SandboxHealth } from '@gantry/protocol';
import { type Call, type Command, flag } from '../command.ts';
import { clientFindings, connectionFindings } from '../doctor/connections.ts';
import { credentialFindings } from '../doctor/credentials.ts';
import { type Finding, fail, ok, warn } from '../doctor/finding.ts';
import { checkData, checkNode } from '../doctor/local.ts';
import { checkClock, checkDatabaseClock, probe } from '../doctor/probe.ts';
import { scheduleFindings, triggerFindings } from '../doctor/starters.ts';
import { EXIT } from '../io.ts';
import { type Colour, printable, type Style } from '../style.ts';

const COLOURS: Readonly<Record<Finding['level'], Colour>> = { ok: 'green', warn: 'yellow', fail: 'red' };

export const doctor: Command = {
  name: 'doctor',
  summary: 'check this machine, the host and the key',
  usage: 'doctor [--json]',
  details: 'Exit code 1 when something fails; warnings do not count.',
  options: { json: flag('print JSON') },
  examples: ['gantry doctor', 'gantry doctor --url https://gantry.example.com'],
  async run(call) {
    const findings = [
      checkNode(process.versions.node),
      await checkData(call.settings.dataDir),
      ...(await checkHost(call)),
    ];
    const text = call.args.flag('json')
      ? JSON.stringify(findings, null, 2)
      : findings.map((finding) => renderFinding(finding, call.style)).join('\n');
    call.io.stdout.write(`${text}\n`);
    return findings.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.ok;
  },
};

/** If the host is unreachable, no further checks are reported. */
async function checkHost(call: Call): Promise<Finding[]> {
  const { settings, io } = call;
  const health = await probe(settings.url, '/healthz');
  if (health.kind !== 'answer' || !health.ok) {
    const detail = health.kind === 'answer' ? `${settings.url} answered ${health.status}` : health.reason;
    return [fail('host', detail, 'Start it with `gantry start`, or name the right one with --url.')];
  }
  return [
    ok('host', `${settings.url} answers`),
    ...(await checkReady(settings.url)),
    checkClock(health.date, io.now()),
    await checkDiscovery(call),
    await checkKey(call),
    ...(await unlessForbidden('storage', STORAGE_FORBIDDEN, async () =>
      storageFindings(await call.client.backends()),
    )),
    ...(await unlessForbidden('sandbox', SANDBOX_FORBIDDEN, async () =>
      sandboxFindings(await call.client.sandbox()),
    )),
    ...(await unlessForbidden('credential', CREDENTIALS_FORBIDDEN, () => credentialFindings(call.client))),
    ...(await unlessForbidden('connection', CONNECTIONS_FORBIDDEN, () => connectionFindings(call.client))),
    ...(await unlessForbidden('connection', PACKS_FORBIDDEN, () => clientFindings(call.client))),
    ...(await unlessForbidden('schedule', RUNS_FORBIDDEN, () => scheduleFindings(call.client))),
    ...(await unlessForbidden('trigger', RUNS_FORBIDDEN, () => triggerFindings(call.client))),
    ...(await unlessForbidden('connectors', CONNECTORS_FORBIDDEN, () => connectorFindings(call))),
  ];
}

async function checkReady(url: string): Promise<Finding[]> {
  const ready = await probe(url, '/readyz');
  if (ready.kind === 'answer' && ready.ok) return [ok('ready', 'serving'), ...checkDatabaseClock(ready.body)];
  const detail = ready.kind === 'answer' ? `answered ${ready.status}` : ready.reason;
  return [fail('ready', detail, 'It may still be recovering: wait a moment, then check the host log.')];
}

async function checkDiscovery({ client }: Call): Promise<Finding> {
  const next = 'Check that the URL is that of an OpenWOP host, without /v1.';
  try {
    const profiles = profilesOf(await client.discovery());
    if (profiles.length > 0) return ok('discovery', profiles.join(', '));
    return fail('discovery', 'the document does not satisfy openwop-core', next);
  } catch (error) {
    return fail('discovery', messageOf(error), next);
  }
}

async function checkKey({ client, settings }: Call): Promise<Finding> {
  if (settings.keySource === 'none')
    return fail('key', 'none given', 'Set GANTRY_API_KEY; the host printed a key at its first start.');
  const detail = `from ${settings.keySource}`;
  try {
    await client.runs.list({ limit: 1 });
    return ok('key', detail);
  } catch (error) {
    if (isForbidden(error)) {
      const next = 'This is fine for a key that only starts runs; otherwise create one with runs:read.';
      return warn('key', `${detail}: valid, but may not read runs`, next);
    }
    return fail('key', `${detail}: ${messageOf(error)}`, 'Set GANTRY_API_KEY to a key of this host.');
  }
}

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

/** A key without the permission to check is a warning. */
async function unlessForbidden(
  name: string,
  detail: string,
  check: () => Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    // An older host does not have this
    if (error instanceof ApiError && error.status === 404) return [];
    return [isForbidden(error) ? warn(name, detail) : fail(name, messageOf(error))];
  }
}

function sandboxFindings({ isolation, filtered, python, problems }: SandboxHealth): Finding[] {
  const found = [
    isolation,
    ...(filtered ? ['system calls filtered'] : []),
    ...(python ? [`Python ${python}`] : []),
  ];
  const isIsolated = isolation !== 'none';
  const problemOf = isIsolated ? warn : fail;
  return [
    ...(isIsolated ? [ok('sandbox', found.join(', '))] : []),
    ...problems.map(({ problem, next }) => problemOf('sandbox', problem, next)),
  ];
}

/** Connects and logs in to each connector, without sending anything. */
async function connectorFindings({ client }: Call): Promise<Finding[]> {
  const { connectors } = await client.connectors.list({ limit: CONNECTOR_LIMITS.perTenantMax });
  const checks = connectors.map(async ({ connectorId: id, type, state, problem }) => {
    const { ok: works, detail, next } = await client.connectors.check(id, {});
    const about = `${id} (${type}): ${detail}`;
    if (!works) return fail('connectors', about, next ?? `gantry connectors check ${id}`);
    if (state === 'active') return ok('connectors', about);
    return fail(
      'connectors',
      `${about}, but it is disconnected (${problem})`,
      `gantry connectors reconnect ${id}`,
    );
  });
  return Promise.all(checks);
}

function storageFindings(backends: readonly BackendHealth[]): Finding[] {
  const findings = backends.flatMap((each) => findingOf(each) ?? []);
  if (backends.length === 0 || findings.some(({ level }) => level === 'fail')) return findings;
  const kinds = [...new Set(backends.map(({ backend }) => backend))].sort();
  return [ok('storage', kinds.join(', ')), ...findings];
}

/** Null if there is nothing to report. */
function findingOf(health: BackendHealth): Finding | null {
  const { capability, datasource, backend } = health;
  const about = `${datasource === undefined ? capability : `${capability} "${datasource}"`} (${backend})`;
  switch (health.state) {
    case 'up':
      return health.warning === undefined ? null : warn('storage', `${about}: ${health.warning}`);
    case 'unreachable':
      return fail('storage', `${about}: ${health.problem}`, backend === 'embedded' ? LOOK : START);
    case 'rejected':
      return fail('storage', `${about}: ${health.problem}`, CORRECT);
  }
}

const CONNECTORS_FORBIDDEN = 'this key may not read connectors; use one with credentials:manage';
const RUNS_FORBIDDEN = 'this key may not read schedules and triggers; use one with runs:read';
const STORAGE_FORBIDDEN = 'this key may not read the state of storage; use one with audit:read';
const SANDBOX_FORBIDDEN =
  'this key may not read the state of the sandbox; use the admin key, or one with audit:read and host:read';
const CREDENTIALS_FORBIDDEN = 'this key may not read credentials; use one with credentials:manage';
const PACKS_FORBIDDEN = 'this key may not read packs; use one with packs:read';
const CONNECTIONS_FORBIDDEN = 'this key may not read connections; use one with credentials:manage';
const START = 'Start the server that the setting names, or check its log; the host reconnects automatically.';
const LOOK = 'Check the disk of the data folder and the log of the host; it retries automatically.';
const CORRECT =
  'Correct what the line names. Changes at the server take effect at once; a setting or a file that the host reads ' +
  'takes effect when the host is started again.';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function renderFinding({ name, level, detail, next }: Finding, style: Style): string {
  const line = `${style(COLOURS[level], level.padEnd(4))}  ${name.padEnd(10)} ${printable(detail)}`;
  return next === undefined ? line : `${line}\n${' '.repeat(17)}Next: ${next}`;
}
