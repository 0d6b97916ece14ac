// One process that runs one test file, or several. It leads a process group of its own, which is killed when the
// process has ended or takes too long: what a test leaves behind cannot hold up the run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { END_MS, LEFT_OPEN } from './test-results.mjs';

const TEST_MS_MAX = 600_000;
const FILE_MS_MAX = 10_000;
/** For what is still in the pipes when the process has ended. */
const DRAIN_MS = 2_000;
const LOOK_MS = 1_000;
/** The counts of one process; the runner prints the sums. */
const COUNTS = /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm;
const RESULTS = path.resolve(import.meta.dirname, 'test-results.mjs');
const WATCH = new URL('watch-sockets.mjs', import.meta.url).href;
const BUNDLE = new URL('../node_modules/.cache/bundle/use.mjs', import.meta.url);

/** One test may be slow, the others are not. */
const limitOf = (files) => TEST_MS_MAX + files.length * FILE_MS_MAX;

const groups = new Set();
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended
  }
}
process.on('exit', () => {
  for (const pid of groups) killGroup(pid);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** `results`: a file that does not exist yet. Resolves with what it printed, the files that failed, counts and times. */
export async function runJob(files, { env, results, limitMs = limitOf(files) }) {
  const started = performance.now();
  const words = [
    ...(files.length > 1 ? ['--test', '--test-isolation=none'] : []),
    `--import=${WATCH}`,
    ...(existsSync(BUNDLE) ? [`--import=${BUNDLE.href}`] : []),
    `--test-timeout=${TEST_MS_MAX}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${RESULTS}`,
    `--test-reporter-destination=${results}`,
    ...files,
  ];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env, detached: true });
  const isReportWritten = () => readResults(results).counts !== undefined;
  const end = await endOf(child, limitMs, endWatch(child.pid, isReportWritten, endMsOf(env)));
  const ms = performance.now() - started;
  const { failures, skips, counts, times } = readResults(results);
  // 1 without a failure: an error between tests, which a strict run does not let pass either
  const isLeftOpen =
    ([LEFT_OPEN, 1].includes(end.code) || end.isStuck) && counts !== undefined && failures.length === 0;
  const isGreen = (end.code === 0 || isLeftOpen) && counts !== undefined;
  const isReported = counts !== undefined && (isGreen || failures.length > 0);
  const how =
    ms < limitMs
      ? `ended with ${end.signal ?? end.code}${counts ? '' : ' before it reported its tests'}`
      : `killed after ${limitMs / 1_000} s`;
  const report = [
    '\n✖ failing tests:\n',
    `✖ ${files.join(' ')}: ${how}`,
    ...failures.map(({ failure }) => failure),
  ];
  const failedFiles = isGreen || failures.length > 0 ? failures.map(({ file }) => file) : files;
  return {
    files,
    isGreen,
    isLeftOpen,
    printed: end.printed.replace(COUNTS, '') + (isReported ? '' : `${report.join('\n')}\n`),
    failedFiles: [...new Set(failedFiles)],
    skips,
    counts,
    times,
  };
}

const endMsOf = ({ GANTRY_TEST_END_MS }) => Number(GANTRY_TEST_END_MS ?? END_MS);

/** A process that has reported its tests may still hang in its exit, where no code of its own can end it. */
function endWatch(pid, isReportWritten, endMs) {
  let reportedAt;
  return () => {
    if (!reportedAt && isReportWritten()) reportedAt = performance.now();
    if (!reportedAt || performance.now() - reportedAt < endMs) return undefined;
    return `Still running ${endMs / 1_000} s after its report:\n${threadsOf(pid).join('\n')}\n`;
  };
}

/** Where each thread is: its name and state, and what the system says that it waits in. */
function threadsOf(pid) {
  const read = (task, name) => readFileSync(`/proc/${pid}/task/${task}/${name}`, 'utf8').trim();
  try {
    return readdirSync(`/proc/${pid}/task`).map((task) => {
      const [, state] = /State:\s+(.*)/.exec(read(task, 'status'));
      return `  ${read(task, 'comm')} ${state} ${read(task, 'wchan')} ${read(task, 'syscall')}`;
    });
  } catch (error) {
    return [`  ${error.message}`];
  }
}

async function endOf(child, limitMs, whyStuck) {
  groups.add(child.pid);
  const streams = [child.stdout, child.stderr];
  const parts = [];
  for (const stream of streams) stream.on('data', (part) => parts.push(part));
  const closed = once(child, 'close');
  const limit = setTimeout(killGroup, limitMs, child.pid);
  let stuck;
  const look = setInterval(() => {
    stuck ??= whyStuck();
    if (stuck) killGroup(child.pid);
  }, LOOK_MS);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(limit);
  clearInterval(look);
  killGroup(child.pid);
  groups.delete(child.pid);
  await Promise.race([closed, sleep(DRAIN_MS)]);
  for (const stream of streams) stream.destroy();
  return { code, signal, isStuck: stuck !== undefined, printed: Buffer.concat(parts) + (stuck ?? '') };
}

function readResults(file) {
  // A process that was killed may have left half a line
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  const results = lines.map((line) => JSON.parse(line));
  return {
    failures: results.filter(({ failure }) => failure !== undefined),
    skips: results.flatMap(({ skip }) => skip ?? []),
    counts: undefined,
    times: [],
    ...results.find(({ counts }) => counts),
  };
}
