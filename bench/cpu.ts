/**
 * What a run costs the host in CPU time, and beside another checkout with `--against`. Unlike runs per second it hardly
 * depends on what else the machine does: each case has a fixed number of runs in a fresh process, and the checkouts
 * take turns.
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

/** Hosts on one database, which is SQLite without a server. */
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

const DURATION_MS_MAX = 120_000;

const casesOf = ({ connections }: Settings): Case[] =>
  (['bench-noop', 'bench-three'] as const).flatMap((workflowId) =>
    connections.map((count) => ({ workflowId, connections: count })),
  );

const contestantsOf = ({ against }: Settings): Contestant[] => [
  ...(against === null ? [] : [{ name: 'before', checkout: against, samples: new Map() }]),
  { name: 'this', checkout: THIS_CHECKOUT, samples: new Map() },
];

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

const cpuOf = (hosts: readonly Server[], thread: keyof ThreadCpu): number =>
  hosts.reduce((sum, { pid }) => sum + (threadCpu(pid)?.[thread] ?? Number.NaN), 0);

async function sampleOf(hosts: readonly Server[], each: Case, settings: Settings): Promise<Sample> {
  const before = THREADS.map((thread) => cpuOf(hosts, thread));
  const runsPerSecond = await load(hosts, each, settings.cpuRuns, settings);
  const [main, writer, others] = THREADS.map(
    (thread, i) => ((cpuOf(hosts, thread) - before[i]!) * 1000) / settings.cpuRuns,
  ) as [number, number, number];
  return { main, writer, others, runsPerSecond };
}

async function measure(
  { checkout, samples }: Contestant,
  { hosts: count, server }: Setup,
  cases: readonly Case[],
  settings: Settings,
): Promise<void> {
  const database = await server?.freshDatabase();
  const hosts: Server[] = [];
  try {
    while (hosts.length < count)
      hosts.push(await startHostOf(checkout, freshFolder(settings.dataDir), database?.url ?? null));
    for (const each of cases) await load(hosts, each, settings.cpuWarmUpRuns / cases.length, settings);
    for (const each of cases)
      samples.set(each, [...(samples.get(each) ?? []), await sampleOf(hosts, each, settings)]);
  } finally {
    for (const host of hosts) await host.stop();
    await database?.drop();
  }
}

const wholeOf = ({ main, writer, others }: Sample): number => main + writer + others;

function rowOf(each: Case, columns: Row, contestant: Contestant, first: Contestant): Row {
  const samples = contestant.samples.get(each) ?? [];
  const base = first.samples.get(each) ?? [];
  const median = (of: (sample: Sample, index: number) => number) => round(medianOf(samples.map(of)));
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
    'of before': contestant === first ? null : median((s, i) => wholeOf(s) / wholeOf(base[i]!)),
  };
}

/** Which checkout begins changes from pair to pair. */
async function compare(setup: Setup, settings: Settings): Promise<Row[]> {
  const cases = casesOf(settings);
  const contestants = contestantsOf(settings);
  for (let pair = 0; pair < settings.pairs; pair++)
    for (const contestant of pair % 2 ? contestants.toReversed() : contestants)
      await measure(contestant, setup, cases, settings);
  return cases.flatMap((each) =>
    contestants.map((contestant) => rowOf(each, setup.columns, contestant, contestants[0]!)),
  );
}

export const cpu = async (settings: Settings): Promise<Report> => ({
  title: `CPU time of a run, SQLite, median of ${settings.pairs} processes each`,
  rows: await compare({ columns: {}, hosts: 1 }, settings),
});

/** The server syncs every commit, as it does by default; its own CPU time is not counted. */
export async function cpuOnPostgres(settings: Settings): Promise<Report> {
  const rows: Row[] = [];
  for (const commitMs of [0, SLOW_COMMIT_MS]) {
    const server = await openPostgresServer(commitMs);
    for (const hosts of [1, 2]) {
      const columns = { processes: hosts, 'added to a commit ms': commitMs };
      rows.push(...(await compare({ columns, hosts, server }, settings)));
    }
  }
  return { title: `CPU time of a run, PostgreSQL, median of ${settings.pairs} starts each`, rows };
}
