// The crash tests, long: each kills the host, or a backend and its users in turn, a hundred times (or as often as
// the first argument says). Other arguments are file filters.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

const filters = process.argv.slice(3);
const TESTS = globSync('packages/*/src/**/*crash.test.ts')
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort();
const rounds = process.argv[2] ?? '100';
const run = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...TESTS], {
  stdio: 'inherit',
  env: { ...process.env, GANTRY_CRASH_ROUNDS: rounds, NODE_NO_WARNINGS: '1' },
});
process.exit(run.status ?? 1);
