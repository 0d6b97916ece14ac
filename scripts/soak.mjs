// The crash test, long: kills the host a hundred times (or as often as the first argument says).
import { spawnSync } from 'node:child_process';

const rounds = process.argv[2] ?? '100';
const run = spawnSync(process.execPath, ['--test', 'packages/host/src/crash.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, GANTRY_CRASH_ROUNDS: rounds, NODE_NO_WARNINGS: '1' },
});
process.exit(run.status ?? 1);
