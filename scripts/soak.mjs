// The long forms of tests: `npm run soak -- NAME [ROUNDS] [FILE...]`. A test reads GANTRY_SOAK_ROUNDS and does that many
// rounds instead of its few; FILE narrows the files by a part of their path.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

const SOAKS = {
  crash: {
    about: 'kills the host on both databases, or a backend and its users in turn',
    files: 'packages/*/src/**/*crash.test.ts',
    rounds: 100,
  },
  changes: {
    about:
      'kills processes amid transfers between records, then reads a feed of 20,000 changes, on both databases',
    files: 'packages/resources/src/changes-crash.test.ts',
    rounds: 50,
  },
  guards: {
    about:
      'kills the host while a node calls a server, at every place between two commits; ' +
      'GANTRY_SOAK_FORM is one of fetch-sqlite, fetch-postgres, safeFetch-sqlite, safeFetch-postgres (all)',
    files: 'packages/host/src/tools/tools-crash.test.ts',
    rounds: 200,
  },
  ai: {
    about:
      'kills the host between any two steps of model calls, on both databases; GANTRY_SOAK_FIRST is the first round (0)',
    files: 'packages/host/src/ai/ai-crash.test.ts',
    rounds: 200,
  },
  walls: {
    about: 'the whole hostile corpus of the sandbox, behind every isolation, as root and as another user',
    files: 'packages/sandbox/src/walls.test.ts',
    rounds: 1,
  },
  proxy: {
    about: 'hosts behind a network to PostgreSQL that fails by a seed, and one whose connections are cut',
    files: 'packages/host/src/proxy*.test.ts',
    rounds: 500,
  },
  lists: {
    about: 'every list on a host with 120,000 runs beside one with 500, on both databases',
    files: 'packages/host/src/testing/lists-soak.ts',
    rounds: 9,
  },
  peers: {
    about: '30 runs beside a process whose clock is 30 s ahead, then 70 runs of a process that is killed',
    files: 'packages/host/src/peers.test.ts',
    rounds: 1,
  },
  width: {
    about: '1,990 sub-workflows beside each other against 250',
    files: 'packages/host/src/runtime/width.test.ts',
    rounds: 3,
  },
  floods: {
    about: 'times the API of one tenant while another floods the host in eight ways',
    files: 'packages/host/src/packs/floods.test.ts',
    rounds: 9,
  },
  streams: {
    about:
      'times the API of one tenant beside 1, 20 and 200 model streams of another at full speed; ' +
      'GANTRY_FLOOD names some of lab, messages, responses, gemini (all)',
    files: 'packages/host/src/ai/stream-floods.test.ts',
    rounds: 1,
  },
  'lying-provider': {
    about: 'all lies of a provider, in every dialect, on both databases',
    files: 'packages/host/src/ai/lying-provider.test.ts',
    rounds: 1,
  },
  readers: {
    about: 'event streams that nobody reads from, as many as rounds',
    files: 'packages/host/src/api/slow-readers.test.ts',
    rounds: 1_000,
  },
  refresh: {
    about:
      'two processes and 100 nodes at once on OAuth tokens of five seconds that rotate, then one is killed',
    files: 'packages/host/src/oauth/testing/refresh-soak.ts',
    rounds: 20,
  },
  properties: {
    about: 'checks properties with four times the inputs of `npm test`, times the rounds',
    files: 'packages/*/src/**/*.test.ts',
    uses: 'propertyRuns(',
    rounds: 1,
  },
  steady: {
    about: 'the whole suite beside four busy loops, where a file that passes only alone fails too',
    rounds: 5,
    run: runSteadily,
  },
};

/** A busy loop ends with its parent. */
const LOOP = 'const { ppid } = process; while (process.ppid === ppid);';
const LOOPS = 4;

function runSteadily(rounds, filters) {
  const loops = Array.from({ length: LOOPS }, () => spawn(process.execPath, ['-e', LOOP]));
  process.on('exit', () => loops.forEach((loop) => void loop.kill()));
  for (let round = 1; round <= rounds; round++) {
    const args = ['scripts/test.mjs', '--strict', '--times', ...filters];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    console.log(`Round ${round} of ${rounds}: ${status === 0 ? 'green' : 'failed'}.`);
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

const [name, rounds, ...filters] = process.argv.slice(2);
const soak = SOAKS[name];
if (!soak || (rounds !== undefined && !/^[1-9]\d*$/.test(rounds))) {
  console.error('Usage: npm run soak -- NAME [ROUNDS] [FILE...]\n');
  for (const [key, { about, rounds }] of Object.entries(SOAKS))
    console.error(`  ${key.padEnd(10)} ${about} (${rounds} rounds)`);
  process.exit(2);
}
if (soak.run) process.exit(soak.run(Number(rounds ?? soak.rounds), filters));
const files = globSync(soak.files)
  .filter((file) => !soak.uses || readFileSync(file, 'utf8').includes(soak.uses))
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort();
if (files.length === 0) {
  console.error('No test file matches.');
  process.exit(1);
}
const run = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...files], {
  stdio: 'inherit',
  env: { ...process.env, GANTRY_SOAK_ROUNDS: rounds ?? String(soak.rounds), NODE_NO_WARNINGS: '1' },
});
process.exit(run.status ?? 1);
