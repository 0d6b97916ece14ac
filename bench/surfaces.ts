/** Surfaces as a pack calls them, on every backend, beside the backend's own client called from this process. */
import { loadavg } from 'node:os';
import type { Json } from '@gantry/protocol';
import { medianOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';
import { BACKENDS, type Backend, type OpenedBackend } from './surfaces-backends.ts';
import { type BenchCallGate, openCallGate, type PackCaller, startPack } from './surfaces-pack.ts';
import { CALLS, type CallName, perSecond, type Work } from './surfaces-works.ts';

const WARM_UP_MS = 200;

const CALL_NAMES = Object.keys(CALLS) as CallName[];

interface Asked {
  readonly call: CallName;
  readonly questions: readonly Json[];
  readonly work: Work;
}

interface Measured {
  readonly pack: PackCaller;
  readonly callGate: BenchCallGate;
  readonly settings: Settings;
  readonly backend: string;
}

/** Pack and client take turns, so that noise of the machine hits both. */
async function rowOf(
  { pack, callGate, settings, backend }: Measured,
  { call, questions, work }: Asked,
): Promise<Row> {
  const { lanes, ...target } = CALLS[call];
  const ms = settings.callMs * ('rounds' in target ? target.rounds : 1);
  const [own, direct, hostUs]: [number[], number[], number[]] = [[], [], []];
  await pack.perSecond(callGate, { call, lanes, ms: WARM_UP_MS, questions });
  await perSecond(work, lanes, WARM_UP_MS);
  for (let turn = 0; turn < settings.rounds; turn++) {
    const [startedAt, used] = [performance.now(), process.cpuUsage()];
    const rate = await pack.perSecond(callGate, { call, lanes, ms, questions });
    const { user, system } = process.cpuUsage(used);
    hostUs.push((user + system) / ((rate * (performance.now() - startedAt)) / 1_000));
    own.push(rate);
    direct.push(await perSecond(work, lanes, ms));
  }
  return {
    backend,
    call,
    'pack /s': round(medianOf(own)),
    'client /s': round(medianOf(direct)),
    'of client': round(medianOf(own) / medianOf(direct)),
    'host CPU µs': round(medianOf(hostUs)),
    goal: backend.startsWith('embedded') && 'goal' in target ? target.goal : null,
  };
}

async function rowsOf(
  { settings, works, questions, dataDir }: OpenedBackend,
  about: Omit<Measured, 'callGate'>,
): Promise<Row[]> {
  const { callGate, close } = await openCallGate(dataDir ?? freshFolder(about.settings.dataDir), settings);
  const rows: Row[] = [];
  try {
    for (const call of CALL_NAMES) {
      const work = works[call];
      if (work)
        rows.push(await rowOf({ ...about, callGate }, { call, work, questions: questions?.[call] ?? [] }));
    }
    return rows;
  } finally {
    await close();
  }
}

const skipped = (backend: string, reason: string): Row => ({ backend, call: `skipped: ${reason}` });

/** A server that is missing on this machine is a row that says so. */
async function opened(open: Backend, settings: Settings): Promise<OpenedBackend | string> {
  try {
    return await open(settings);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export async function surfaces(settings: Settings): Promise<Report> {
  const pack = await startPack(settings.dataDir);
  const rows: Row[] = [];
  try {
    for (const [name, open] of Object.entries(BACKENDS)) {
      const backend = await opened(open, settings);
      if (typeof backend === 'string') rows.push(skipped(name, backend));
      else
        try {
          rows.push(...(await rowsOf(backend, { pack, settings, backend: name })));
        } finally {
          await backend.close();
        }
    }
  } finally {
    await pack.stop();
  }
  const load = loadavg()[0]?.toFixed(1);
  const facts = `${pack.isolation}; ${settings.retrievalItems} vectors and documents; load of the machine ${load}`;
  return { title: `Surfaces called by a pack (${facts})`, rows };
}
