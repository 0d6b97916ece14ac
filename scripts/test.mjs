// Runs the test files with node:test. `--touched` keeps to the packages that differ from HEAD
// (and the house rules); other arguments are file filters. Debian packages that some tests need are
// installed only with CI=true or GANTRY_TEST_INSTALL=1, never by surprise.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const args = process.argv.slice(2);
const filters = args.filter((arg) => !arg.startsWith('--'));
const rooms = args.includes('--touched') ? touchedRooms() : undefined;

function touchedRooms() {
  const git = (...words) => spawnSync('git', words, { encoding: 'utf8' }).stdout.split('\n');
  const files = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
  return new Set(files.filter(Boolean).map((file) => file.split('/').slice(0, 2).join('/')));
}

const wanted = (file) =>
  (filters.length === 0 || filters.some((filter) => file.includes(filter))) &&
  (!rooms || file.startsWith('test/') || rooms.has(file.split('/').slice(0, 2).join('/')));

const files = globSync(['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'])
  .filter(wanted)
  .sort();
if (files.length === 0) {
  console.error('no test file matches');
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
if (process.env.CI || process.env.GANTRY_TEST_INSTALL) {
  const isThere = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
  const missing = Object.keys(PACKAGES).filter((command) => !isThere(command));
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

// Loading is most of the work of a file. Those that start no processes of the project and change nothing of their own
// share one: [m] 14 instead of 66 seconds of work for engine and protocol, 46 instead of 93 for the host's API.
const GROUPS = [
  /^packages\/(client|egress|engine|http|limiter|packs|protocol)\//,
  /^packages\/(host\/src\/(api|conformance|dead-letters|heartbeats|triggers|webhooks|workflows)|registry)\//,
];
const ALONE = /(crash|memory|process|restart|browser|main)[^/]*\.test\.ts$/;
const isIn = (group) => (file) => group.test(file) && !ALONE.test(file);
const together = GROUPS.map((group) => files.filter(isIn(group)));
const apart = files.filter((file) => !GROUPS.some((group) => isIn(group)(file)));

const env = {
  ...process.env,
  NODE_NO_WARNINGS: '1',
  NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/gantry-tests'),
  GANTRY_TEST_POSTGRES_URL: files.some((file) => file.startsWith('packages/')) ? await postgresUrl() : '',
};

const folder = mkdtempSync(path.join(process.env.TMPDIR, 'gantry-tests-'));
let runs = 0;

/** Answers the exit status, what was printed, which also goes to `onward` as it comes, and where something failed. */
async function run(files, flag, onward) {
  if (files.length === 0) return { status: 0, printed: '', failedFiles: [] };
  const told = path.join(folder, `failed-files-${runs++}`);
  const reporters = [
    ['spec', 'stdout'],
    [path.resolve('scripts/failed-files.mjs'), told],
  ].flatMap(([name, to]) => [`--test-reporter=${name}`, `--test-reporter-destination=${to}`]);
  const child = spawn(process.execPath, ['--test', flag, '--test-timeout=300000', ...reporters, ...files], {
    stdio: ['inherit', 'pipe', 'inherit'],
    env,
  });
  const parts = [];
  child.stdout.on('data', (part) => {
    parts.push(part);
    onward?.write(part);
  });
  const [status] = await once(child, 'close');
  const failedFiles = readFileSync(told, 'utf8').split('\n').filter(Boolean);
  return { files, flag, status: status ?? 1, printed: Buffer.concat(parts).toString(), failedFiles };
}

const [ONE_PROCESS, ONE_BY_ONE, THREE_AT_ONCE] = [
  '--test-isolation=none',
  '--test-concurrency=1',
  '--test-concurrency=3',
];

async function runTogether() {
  const ended = [];
  for (const group of together) ended.push(await run(group, ONE_PROCESS));
  return ended;
}

// The others are processes of their own. Many wait for processes and servers more than they compute, so three of
// them, and a shared one beside them, suit two cores.
const [alone, shared] = await Promise.all([run(apart, THREE_AT_ONCE, process.stdout), runTogether()]);
const ended = [alone, ...shared];
for (const { printed } of shared) process.stdout.write(printed);

// Servers of others are starved on a full machine now and then. What failed is tried once more with nothing beside
// it: what fails again is broken; what passes is told as unsteady, and more than a few of that are broken too.
const UNSTEADY_MAX = 2;
const isWhole = args.length === 0;
const tried = ended.filter(({ status }) => status !== 0);
const unsteady = tried.flatMap(({ failedFiles }) => failedFiles);
const failed = [];
for (const each of tried) {
  const isTriedAgain = isWhole && unsteady.length <= UNSTEADY_MAX && each.failedFiles.length > 0;
  const again = isTriedAgain ? await runAgain(each) : each;
  if (again.status !== 0) failed.push(again);
}

function runAgain({ files: all, flag, failedFiles }) {
  // In one process, a test of a contract is told by the file of the contract
  const isExact = failedFiles.every((file) => files.includes(path.relative('.', file)));
  return run(isExact ? failedFiles : all, flag === ONE_PROCESS ? flag : ONE_BY_ONE, process.stdout);
}

rmSync(folder, { recursive: true });

// What failed is told again at the very end, where one looks first.
const tell = ({ printed }) => {
  const from = printed.lastIndexOf('✖ failing tests:');
  console.log(printed.slice(from, from + 8_000));
};
for (const each of failed.length > 0 ? failed : tried) tell(each);
if (tried.length > failed.length)
  console.log(`UNSTEADY: failed beside others, passed alone. Mend it today.\n${unsteady.join('\n')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
