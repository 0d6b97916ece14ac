// Runs the test files with node:test; `FLAGS` has the options, other arguments are file filters.
// Debian packages that some tests need are installed only with CI=true or GANTRY_TEST_INSTALL=1, never by surprise.
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runJob } from './test-job.mjs';
import { cpuSeconds } from './test-results.mjs';

const FLAGS = {
  '--touched': 'only the packages that differ from HEAD, and the house rules',
  '--strict':
    'a file that fails beside others and passes alone fails the run, and so does what tests leave open',
  '--full': 'the full form of the tests that have a short one, and only those',
  '--times': 'list what took longest',
  '--record-times': 'keep what took long, for the order of later runs',
};

const args = process.argv.slice(2);
const filters = args.filter((arg) => !arg.startsWith('-'));
const unknown = args.filter((arg) => arg.startsWith('-') && !(arg in FLAGS));
if (unknown.length > 0) {
  console.error(`Unknown option ${unknown.join(', ')}. Usage: npm test -- [OPTION...] [PART-OF-A-PATH...]\n`);
  for (const [flag, about] of Object.entries(FLAGS)) console.error(`  ${flag.padEnd(16)}${about}`);
  process.exit(2);
}
const isStrict = args.includes('--strict');
const isFull = args.includes('--full');
const isWhole = filters.length === 0 && !args.includes('--touched');
const rooms = args.includes('--touched') ? touchedRooms() : undefined;

function touchedRooms() {
  const git = (...words) => spawnSync('git', words, { encoding: 'utf8' }).stdout.split('\n');
  const files = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
  return new Set(files.filter(Boolean).map((file) => file.split('/').slice(0, 2).join('/')));
}

const FULL_FORM = /testing\/(full-form|property-runs)\.ts'/;
const wanted = (file) =>
  (filters.length === 0 || filters.some((filter) => file.includes(filter))) &&
  (!isFull || FULL_FORM.test(readFileSync(file, 'utf8'))) &&
  (!rooms || file.startsWith('test/') || rooms.has(file.split('/').slice(0, 2).join('/')));

const files = globSync(['packages/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'])
  .filter(wanted)
  .sort();
if (files.length === 0) {
  console.error(`No test file matches ${filters.join(', ') || 'these options'}.`);
  process.exit(1);
}
/** Commands that tests look for, with the Debian package that brings each. */
const PACKAGES = {
  strace: 'strace',
  chromium: 'chromium',
  bwrap: 'bubblewrap',
  mariadbd: 'mariadb-server',
  zip: 'zip',
  unzip: 'unzip',
  python3: 'python3',
  openssl: 'openssl',
};
const isThere = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
const missingCommands = () => Object.keys(PACKAGES).filter((command) => !isThere(command));
if ((process.env.GANTRY_TEST_INSTALL ?? process.env.CI ?? '0') !== '0') {
  const missing = missingCommands();
  if (missing.length > 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...words) => spawnSync('apt-get', words, { stdio: 'inherit', env });
    apt('update', '-qq');
    apt('install', '-y', '-qq', '--no-install-recommends', ...missing.map((command) => PACKAGES[command]));
  }
}

// Data folders lie in memory where there is room for them: on a busy disk an fsync can take seconds, and that is not
// what is tested. What is killed here are processes, never the machine.
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 4_000_000_000;
function folderOfTests() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > MEMORY_BYTES_MIN ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
process.env.TMPDIR ??= folderOfTests();

// One PostgreSQL for all of them: making one takes two seconds, and many need it.
const { findBinaries } = await import('../packages/store/src/testing/postgres-binaries.ts');
const { startServer } = await import('../packages/store/src/testing/postgres-process.ts');

async function postgresUrl() {
  if (process.env.GANTRY_TEST_POSTGRES_URL) return process.env.GANTRY_TEST_POSTGRES_URL;
  const binaries = await findBinaries();
  return 'skip' in binaries ? '' : startServer(binaries);
}

// Loading is half of the work of most files, so those that change nothing of their process share one.
const GROUPS = [
  /^packages\/surfaces\//,
  /^packages\/sandbox\//,
  /^packages\/host\/src\/(api|conformance|dead-letters|heartbeats|triggers|webhooks|workflows)\//,
  /^packages\/host\//,
  /^packages\/cli\//,
  /^packages\/registry\//,
  /^packages\/store\//,
  /^packages\//,
  /^(bench|test)\//,
];
const ALONE =
  /(crash|escapes|host-death|memory|process|restart|browser|main|scans|sharing|walls|width)[^/]*\.test\.ts$/;
const FILES_PER_PROCESS_MAX = 48;
const JOB_SECONDS_MAX = 60;
/** What files took that took long, by `--record-times`. */
const TIMES = new URL('test-seconds.json', import.meta.url);
const SECONDS = JSON.parse(readFileSync(TIMES, 'utf8'));
const SECONDS_ELSE = 0.5;
const KEPT_SECONDS_MIN = 3;
const secondsOf = (files) => files.reduce((sum, file) => sum + (SECONDS[file] ?? SECONDS_ELSE), 0);

/** The longest come first, so that none is left when all others have ended. */
function jobsOf(files) {
  const groupOf = (file) => (ALONE.test(file) ? file : GROUPS.findIndex((group) => group.test(file)));
  const groups = [...Map.groupBy(files, groupOf).values()];
  return groups.flatMap(partsOf).sort((a, b) => secondsOf(b) - secondsOf(a));
}

/** Neighbours stay together, in parts of about the same length. */
function partsOf(group) {
  const parts = Math.max(group.length / FILES_PER_PROCESS_MAX, secondsOf(group) / JOB_SECONDS_MAX);
  const partSeconds = secondsOf(group) / Math.ceil(parts);
  let before = 0;
  const partOf = (file) => {
    const part = Math.floor(before / partSeconds);
    before += secondsOf([file]);
    return part;
  };
  return [...Map.groupBy(group, partOf).values()];
}

const env = {
  ...process.env,
  NODE_NO_WARNINGS: '1',
  NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/gantry-tests'),
  ...(isFull ? { GANTRY_TEST_FORM: 'full' } : {}),
  GANTRY_TEST_POSTGRES_URL: files.some((file) => file.startsWith('packages/')) ? await postgresUrl() : '',
};

const folder = mkdtempSync(path.join(process.env.TMPDIR, 'gantry-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
let runs = 0;

async function run(files) {
  const ended = await runJob(files, { env, results: path.join(folder, `results-${runs++}`) });
  process.stdout.write(ended.printed);
  return ended;
}

const TIMES_MAX = 20;
/** Many wait for processes and servers more than they compute: four suit two cores. */
const JOBS_AT_ONCE = 4;
const jobs = jobsOf(files);
const jobsLeft = jobs.values();
const ended = [];
const sum = (name) => ended.reduce((total, { counts }) => total + (counts?.[name] ?? 0), 0);
await Promise.all(
  Array.from({ length: JOBS_AT_ONCE }, async () => {
    for (const job of jobsLeft) {
      ended.push(await run(job));
      const failures = ended.filter(({ isGreen }) => !isGreen).length;
      console.log(
        `— ${ended.length} of ${jobs.length} processes ended, ${sum('tests')} tests, ` +
          `${failures} failed, ${Math.round(performance.now() / 1_000)} s`,
      );
    }
  }),
);

// What failed runs once more with nothing beside it, to tell what is broken from what is unsteady. An unsteady file
// fails a strict run; else a few of them pass with a warning.
const UNSTEADY_MAX = 2;
const failed = ended.filter(({ isGreen }) => !isGreen);
const failedFiles = failed.flatMap((job) => job.failedFiles);
const unsteady = [];
if (isWhole && failedFiles.length <= UNSTEADY_MAX)
  for (const job of failed) if ((await run(filesAgain(job))).isGreen) unsteady.push(job);

/** A test of a contract is reported under the file of the contract. */
function filesAgain(job) {
  const again = job.failedFiles.map((file) => path.relative('.', file));
  return again.every((file) => job.files.includes(file)) ? again : job.files;
}

console.log(
  `${files.length} files, ${sum('tests')} tests: ${sum('passed')} passed, ${sum('skipped')} skipped`,
);
printSkipped();
if (args.includes('--times')) printTimes();
if (args.includes('--record-times')) recordTimes();
// What failed is printed again at the very end, where one looks first.
for (const { printed } of failed)
  console.log(printed.slice(printed.indexOf('✖ failing tests:')).slice(0, 8_000));
for (const job of unsteady)
  console.log(`UNSTEADY: failed beside others, passed alone: ${filesAgain(job).join(' ')}`);
const leftOpen = ended.filter((job) => job.isLeftOpen);
for (const job of leftOpen)
  console.log(`UNSTEADY: passed, but did not end by itself (see "Still …"): ${job.files.join(' ')}`);
// CI has everything: what is skipped there would never be tested
const isSkipFailure = process.env.CI !== undefined && ended.some(({ skips }) => skips.length > 0);
process.exitCode =
  failed.length > (isStrict ? 0 : unsteady.length) || (isStrict && leftOpen.length > 0) || isSkipFailure
    ? 1
    : 0;

/** What was not tested here, why, and how to test it. */
function printSkipped() {
  const reasons = Map.groupBy(
    ended.flatMap(({ skips }) => skips),
    ({ reason }) => reason,
  );
  for (const [reason, tests] of reasons)
    console.log(`Skipped ${tests.length}: ${reason} (${tests[0].name}${tests.length > 1 ? ', …' : ''})`);
  const missing = missingCommands();
  if (reasons.size > 0 && missing.length > 0)
    console.log(
      `Missing here: ${missing.join(', ')}. \`GANTRY_TEST_INSTALL=1 npm test\` installs them (Debian, as root).`,
    );
}

/** Loading is listed by job where several files share a process. */
function timesByFile() {
  const sums = new Map();
  for (const { files, times } of ended)
    for (const { file, seconds, cpuSeconds } of times) {
      const name =
        files.length === 1
          ? files[0]
          : path.isAbsolute(file)
            ? path.relative('.', file)
            : `${file} ${files.length} files from ${files[0]}`;
      const sum = sums.get(name) ?? { name, seconds: 0, cpuSeconds: 0 };
      sums.set(name, { name, seconds: sum.seconds + seconds, cpuSeconds: sum.cpuSeconds + cpuSeconds });
    }
  return [...sums.values()];
}

function printTimes() {
  const longest = timesByFile().sort((a, b) => b.cpuSeconds - a.cpuSeconds);
  console.log('CPU s  seconds');
  for (const { name, seconds, cpuSeconds } of longest.slice(0, TIMES_MAX))
    console.log(`${cpuSeconds.toFixed(1).padStart(5)}  ${seconds.toFixed(1).padStart(7)}  ${name}`);
  console.log(
    `${cpuSeconds().toFixed(0)} CPU seconds in all, without servers and processes that were killed with their children`,
  );
}

function recordTimes() {
  const isLong = ({ name, seconds }) => files.includes(name) && seconds >= KEPT_SECONDS_MIN;
  const long = timesByFile().filter(isLong);
  const kept = long.map(({ name, seconds }) => [name, Math.round(seconds)]).sort();
  writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}
