/** What a slow disk adds to every commit. */
export const SLOW_COMMIT_MS = 6;

/** How long and how large each part measures. `--quick` answers "does it work", not "how fast". */
export interface Settings {
  /** Folder for databases; on the disk that should be measured, removed at the end. */
  readonly dataDir: string;
  /** Another checkout of the repository to compare with; null: none. */
  readonly against: string | null;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  readonly connections: readonly number[];
  readonly drainTimeoutMs: number;
  readonly followOneIn: number;
  /** How often `cpu` starts the hosts, how many turns each gets for a case, and runs in a turn. */
  readonly cpuPairs: number;
  readonly cpuTurns: number;
  readonly cpuRuns: number;
  /** Of each case. */
  readonly cpuWarmUpRuns: number;
  readonly fanOutClients: number;
  readonly coldStarts: number;
  /** From the start: what is done once, such as trying out the sandbox, is over by then. */
  readonly idleAfterMs: number;
  readonly idleMs: number;
  readonly settleMs: number;
  readonly waitingRuns: number;
  readonly approvals: number;
  readonly longRunEvents: number;
  readonly longRunTimeoutMs: number;
  readonly reads: number;
  /** Of one round of calls of a surface. */
  readonly callMs: number;
  /** Answers of a model that are followed one by one, and such that run at once. */
  readonly streamCalls: number;
  readonly streams: number;
  /** Vectors and documents. */
  readonly retrievalItems: number;
}

const FULL = {
  rounds: 3,
  roundMs: 4000,
  warmUpMs: 2000,
  connections: [32, 128],
  drainTimeoutMs: 30_000,
  followOneIn: 100,
  cpuPairs: 3,
  cpuTurns: 5,
  cpuRuns: 4_000,
  cpuWarmUpRuns: 5_000,
  fanOutClients: 1000,
  coldStarts: 5,
  idleAfterMs: 60_000,
  idleMs: 5000,
  settleMs: 2000,
  waitingRuns: 10_000,
  approvals: 5000,
  longRunEvents: 100_000,
  longRunTimeoutMs: 120_000,
  reads: 200,
  callMs: 600,
  streamCalls: 300,
  streams: 200,
  retrievalItems: 100_000,
} as const;

const QUICK = {
  ...FULL,
  rounds: 1,
  roundMs: 1000,
  warmUpMs: 500,
  cpuPairs: 1,
  cpuTurns: 1,
  cpuRuns: 1_000,
  cpuWarmUpRuns: 500,
  coldStarts: 1,
  idleAfterMs: 500,
  idleMs: 1000,
  settleMs: 500,
  waitingRuns: 1000,
  approvals: 500,
  longRunEvents: 10_000,
  reads: 50,
  callMs: 150,
  streamCalls: 6,
  streams: 20,
  retrievalItems: 2_000,
} as const;

export const settingsFor = (dataDir: string, against: string | null, quick: boolean): Settings => ({
  dataDir,
  against,
  ...(quick ? QUICK : FULL),
});
