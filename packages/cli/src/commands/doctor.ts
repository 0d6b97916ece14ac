import { ApiError } from '@gantry/client';
import { type BackendHealth, profilesOf } from '@gantry/protocol';
import { type Call, type Command, flag } from '../command.ts';
import type { Finding } from '../doctor/finding.ts';
import { checkData, checkNode } from '../doctor/local.ts';
import { checkClock, checkDatabaseClock, probe } from '../doctor/probe.ts';
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
  words: { min: 0, max: 0 },
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

/** Nothing behind a host that cannot be reached is worth a line. */
async function checkHost(call: Call): Promise<Finding[]> {
  const { settings, io } = call;
  const health = await probe(settings.url, '/healthz');
  if (health.kind !== 'answer' || !health.ok) {
    return [
      {
        name: 'host',
        level: 'fail',
        detail: health.kind === 'answer' ? `${settings.url} answered ${health.status}` : health.reason,
        next: 'Start it with `gantry start`, or name the right one with --url.',
      },
    ];
  }
  return [
    { name: 'host', level: 'ok', detail: `${settings.url} answers` },
    ...(await checkReady(settings.url)),
    checkClock(health.date, io.now()),
    await checkDiscovery(call),
    await checkKey(call),
    ...(await checkBackends(call)),
    ...(await checkSandbox(call)),
  ];
}

async function checkReady(url: string): Promise<Finding[]> {
  const ready = await probe(url, '/readyz');
  if (ready.kind === 'answer' && ready.ok)
    return [{ name: 'ready', level: 'ok', detail: 'serving' }, ...checkDatabaseClock(ready.body)];
  return [
    {
      name: 'ready',
      level: 'fail',
      detail: ready.kind === 'answer' ? `answered ${ready.status}` : ready.reason,
      next: 'It may still be recovering: wait a moment, then look at the host log.',
    },
  ];
}

async function checkDiscovery({ client }: Call): Promise<Finding> {
  const next = 'Check that the URL is that of an OpenWOP host, without /v1.';
  try {
    const profiles = profilesOf(await client.discovery());
    if (profiles.length > 0) return { name: 'discovery', level: 'ok', detail: profiles.join(', ') };
    return { name: 'discovery', level: 'fail', detail: 'the document does not satisfy openwop-core', next };
  } catch (error) {
    return { name: 'discovery', level: 'fail', detail: messageOf(error), next };
  }
}

async function checkKey({ client, settings }: Call): Promise<Finding> {
  if (settings.keySource === 'none') {
    const next = 'Set GANTRY_API_KEY; the host printed a key at its first start.';
    return { name: 'key', level: 'fail', detail: 'none given', next };
  }
  const detail = `from ${settings.keySource}`;
  try {
    await client.runs.list({ limit: 1 });
    return { name: 'key', level: 'ok', detail };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      const next = 'Fine if it only starts runs; else create one with runs:read.';
      return { name: 'key', level: 'warn', detail: `${detail}: valid, but may not read runs`, next };
    }
    const next = 'Set GANTRY_API_KEY to a key of this host.';
    return { name: 'key', level: 'fail', detail: `${detail}: ${messageOf(error)}`, next };
  }
}

async function checkBackends({ client }: Call): Promise<Finding[]> {
  try {
    return findingsOf(await client.backends());
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      const detail = 'this key may not look at storage; use one with audit:read';
      return [{ name: 'storage', level: 'warn', detail }];
    }
    return [{ name: 'storage', level: 'fail', detail: messageOf(error) }];
  }
}

async function checkSandbox({ client }: Call): Promise<Finding[]> {
  try {
    const { isolation, filtered, python, problems } = await client.sandbox();
    const found = [
      isolation,
      ...(filtered ? ['system calls filtered'] : []),
      ...(python ? [`Python ${python}`] : []),
    ];
    const level = isolation === 'none' ? 'fail' : 'warn';
    return [
      ...(isolation === 'none' ? [] : [{ name: 'sandbox', level: 'ok' as const, detail: found.join(', ') }]),
      ...problems.map(
        ({ problem, ...rest }): Finding => ({ name: 'sandbox', level, detail: problem, ...rest }),
      ),
    ];
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      const detail = 'this key may not look at the sandbox; use one of the operator with audit:read';
      return [{ name: 'sandbox', level: 'warn', detail }];
    }
    return [{ name: 'sandbox', level: 'fail', detail: messageOf(error) }];
  }
}

function findingsOf(backends: readonly BackendHealth[]): Finding[] {
  const findings = backends.flatMap((each) => findingOf(each) ?? []);
  if (backends.length === 0 || findings.some(({ level }) => level === 'fail')) return findings;
  const kinds = [...new Set(backends.map(({ backend }) => backend))].sort();
  return [{ name: 'storage', level: 'ok', detail: kinds.join(', ') }, ...findings];
}

/** Null when there is nothing to say. */
function findingOf(health: BackendHealth): Finding | null {
  const { capability, datasource, backend } = health;
  const about = `${datasource === undefined ? capability : `${capability} "${datasource}"`} (${backend})`;
  switch (health.state) {
    case 'up':
      if (health.warning === undefined) return null;
      return { name: 'storage', level: 'warn', detail: `${about}: ${health.warning}` };
    case 'unreachable':
      return {
        name: 'storage',
        level: 'fail',
        detail: `${about}: ${health.problem}`,
        next: backend === 'embedded' ? LOOK : START,
      };
    case 'rejected':
      return { name: 'storage', level: 'fail', detail: `${about}: ${health.problem}`, next: CORRECT };
  }
}

const START = 'Start the server that the setting names, or look at its log; the host reconnects by itself.';
const LOOK = 'Look at the disk of the data folder and at the log of the host; it tries again by itself.';
const CORRECT =
  'Correct what the line names. Changes at the server take effect at once; a setting or a file that the host reads ' +
  'takes effect when the host is started again.';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function renderFinding({ name, level, detail, next }: Finding, style: Style): string {
  const line = `${style(COLOURS[level], level.padEnd(4))}  ${name.padEnd(10)} ${printable(detail)}`;
  return next === undefined ? line : `${line}\n${' '.repeat(17)}Next: ${next}`;
}
