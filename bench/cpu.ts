/**
 * What a run costs the host in CPU time, and beside another checkout with `--against`. Unlike runs per second it hardly
 * depends on what else the machine does, provided that both are measured in the same seconds: fresh processes of both
 * checkouts are up at the same time, and get a fixed number of runs in turns.
 */
import { type Server, type ThreadCpu, threadCpu } from './children.ts';
import { medianOf } from './load/percentile.ts';
import { openPostgresServer, type PostgresServer } from './postgres.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder, startHostOf, THIS_CHECKOUT } from './servers.ts';
import { type Settings, SLOW_COMMIT_MS } from './settings.ts';
import { runLoad } from './throughput.ts';

interface Case {
  readonly workflowId: 'bench-noop' | 'bench-three';
  readonly connections: number;
}

/** Hosts of one checkout on one database, which is SQLite without a server. */
interface Setup {
  readonly columns: Row;
  readonly hosts: number;
  readonly server?: PostgresServer;
}

interface Sample extends ThreadCpu {
  readonly runsPerSecond: number;
}

interface Contestant {
  readonly name: string;
  readonly checkout: string;
  readonly samples: Map<Case, Sample[]>;
}

/** A contestant with its processes. */
interface Started {
  readonly contestant: Contestant;
  readonly hosts: readonly Server[];
  stop(): Promise<void>;
}

const DURATION_MS_MAX = 120_000;

const casesOf = ({ connections }: Settings): Case[] =>
  (['bench-noop', 'bench-three'] as const).flatMap((workflowId) =>
    connections.map((count) => ({ workflowId, connections: count })),
  );

const contestantsOf = ({ against }: Settings): Contestant[] => {
  const ours = { name: 'this', checkout: THIS_CHECKOUT, samples: new Map() };
  return against === null ? [ours] : [{ name: 'before', checkout: against, samples: new Map() }, ours];
};

async function start(contestant: Contestant, setup: Setup, { dataDir }: Settings): Promise<Started> {
  const database = await setup.server?.freshDatabase();
  const hosts: Server[] = [];
  const stop = async (): Promise<void> => {
    for (const host of hosts) await host.stop();
    await database?.drop();
  };
  try {
    while (hosts.length < setup.hosts)
      hosts.push(await startHostOf(contestant.checkout, freshFolder(dataDir), database?.url ?? null));
  } catch (error) {
    await stop();
    throw error;
  }
  return { contestant, hosts, stop };
}

/** Answers runs per second. Each host gets its share of the connections and of the runs. */
async function load(
  hosts: readonly Server[],
  { workflowId, connections }: Case,
  runs: number,
  { drainTimeoutMs }: Settings,
): Promise<number> {
  const results = await Promise.all(
    hosts.map((host) =>
      runLoad(host, {
        connections: Math.ceil(connections / hosts.length),
        durationMs: DURATION_MS_MAX,
        requestsMax: Math.ceil(runs / hosts.length),
        body: JSON.stringify({ workflowId, inputs: {} }),
        followOneIn: 0,
        drainTimeoutMs,
      }),
    ),
  );
  return results.reduce((sum, { runsPerSecond }) => sum + runsPerSecond, 0);
}

const THREADS = ['main', 'writer', 'others'] as const;

const cpuOf = (hosts: readonly Server[]): number[] =>
  THREADS.map((thread) => hosts.reduce((sum, { pid }) => sum + (threadCpu(pid)?.[thread] ?? Number.NaN), 0));

async function sampleOf(hosts: readonly Server[], each: Case, settings: Settings): Promise<Sample> {
  const before = cpuOf(hosts);
  const runsPerSecond = await load(hosts, each, settings.cpuRuns, settings);
  const after = cpuOf(hosts);
  const microsPerRun = (at: number): number => ((after[at]! - before[at]!) * 1000) / settings.cpuRuns;
  return { main: microsPerRun(0), writer: microsPerRun(1), others: microsPerRun(2), runsPerSecond };
}

/** Who begins changes from turn to turn. */
async function measure(
  started: readonly Started[],
  cases: readonly Case[],
  settings: Settings,
): Promise<void> {
  for (const each of cases)
    for (const { hosts } of started) await load(hosts, each, settings.cpuWarmUpRuns, settings);
  for (let turn = 0; turn < settings.cpuTurns; turn++)
    for (const each of cases)
      for (const { hosts, contestant } of turn % 2 ? started.toReversed() : started) {
        const sample = await sampleOf(hosts, each, settings);
        contestant.samples.set(each, [...(contestant.samples.get(each) ?? []), sample]);
      }
}

const wholeOf = ({ main, writer, others }: Sample): number => main + writer + others;
const busyOf = ({ main, writer }: Sample): number => main + writer;

function rowOf(each: Case, columns: Row, contestant: Contestant, first: Contestant): Row {
  const samples = contestant.samples.get(each) ?? [];
  const base = first.samples.get(each) ?? [];
  const median = (of: (sample: Sample, index: number) => number) => round(medianOf(samples.map(of)));
  const ofBefore = (of: (sample: Sample) => number) =>
    contestant === first ? null : median((sample, i) => of(sample) / of(base[i]!));
  return {
    ...columns,
    nodes: each.workflowId === 'bench-noop' ? 1 : 3,
    connections: each.connections,
    checkout: contestant.name,
    'runs/s': median(({ runsPerSecond }) => runsPerSecond),
    'main µs': median(({ main }) => main),
    'writer µs': median(({ writer }) => writer),
    'other threads µs': median(({ others }) => others),
    'CPU µs a run': median(wholeOf),
    'of before': ofBefore(wholeOf),
    'main + writer of before': ofBefore(busyOf),
  };
}

async function compare(setup: Setup, settings: Settings): Promise<Row[]> {
  const cases = casesOf(settings);
  const contestants = contestantsOf(settings);
  for (let pair = 0; pair < settings.cpuPairs; pair++) {
    const started: Started[] = [];
    try {
      for (const contestant of contestants) started.push(await start(contestant, setup, settings));
      await measure(started, cases, settings);
    } finally {
      for (const { stop } of started) await stop();
    }
  }
  return cases.flatMap((each) =>
    contestants.map((contestant) => rowOf(each, setup.columns, contestant, contestants[0]!)),
  );
}

const samplesOf = ({ cpuPairs, cpuTurns, cpuRuns }: Settings): string =>
  `median of ${cpuPairs * cpuTurns} samples of ${cpuRuns} runs, ${cpuPairs} starts`;

export const cpu = async (settings: Settings): Promise<Report> => ({
  title: `CPU time of a run, SQLite: ${samplesOf(settings)}`,
  rows: await compare({ columns: {}, hosts: 1 }, settings),
});

/** Four setups, of which the slow ones end 600 runs a second: with the samples of SQLite it would take half an hour. */
const shorter = (settings: Settings): Settings => ({
  ...settings,
  cpuPairs: Math.min(settings.cpuPairs, 2),
  cpuTurns: Math.min(settings.cpuTurns, 3),
  cpuRuns: Math.min(settings.cpuRuns, 1_500),
  cpuWarmUpRuns: Math.min(settings.cpuWarmUpRuns, 2_000),
  connections: settings.connections.slice(0, 1),
});

/** The server syncs every commit, as it does by default; its own CPU time is not counted. */
export async function cpuOnPostgres(given: Settings): Promise<Report> {
  const settings = shorter(given);
  const rows: Row[] = [];
  for (const commitMs of [0, SLOW_COMMIT_MS]) {
    const server = await openPostgresServer(commitMs);
    for (const hosts of [1, 2]) {
      const columns = { processes: hosts, 'added to a commit ms': commitMs };
      rows.push(...(await compare({ columns, hosts, server }, settings)));
    }
  }
  return { title: `CPU time of a run, PostgreSQL: ${samplesOf(settings)}`, rows };
}
