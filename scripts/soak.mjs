// The crash tests, long: each kills the host a hundred times (or as often as the first argument says).
import { spawnSync } from 'node:child_process';

const TESTS = ['packages/host/src/crash.test.ts', 'packages/host/src/orchestration-crash.test.ts'];
const rounds = process.argv[2] ?? '100';
const run = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...TESTS], {
  stdio: 'inherit',
  env: { ...process.env, GANTRY_CRASH_ROUNDS: rounds, NODE_NO_WARNINGS: '1' },
});
process.exit(run.status ?? 1);
