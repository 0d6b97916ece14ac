// A reporter of node:test: a JSON line for each test that failed or was skipped, and one at the end with the counts and
// with the seconds and CPU seconds that each file took.
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';

const TICKS_PER_SECOND = 100;
/** How long what tests started may take to end. */
export const END_MS = Number(process.env.GANTRY_TEST_END_MS ?? 20_000);
const REPORT_MS = 500;
/** The exit code of a process whose tests have ended, but not what they started. */
export const LEFT_OPEN = 70;

/** Of this process and of its children that have ended. */
export function cpuSeconds() {
  try {
    // The name in parentheses may contain anything; utime, stime, cutime and cstime are fields 14 to 17
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

/** What passes between two tests is counted for the file of the second. */
function timer() {
  const times = new Map();
  const last = { seconds: 0, cpuSeconds: 0 };
  return {
    count(file) {
      const now = { seconds: performance.now() / 1_000, cpuSeconds: cpuSeconds() };
      const time = times.get(file) ?? { file, seconds: 0, cpuSeconds: 0 };
      for (const unit of Object.keys(now)) time[unit] += now[unit] - last[unit];
      times.set(file, time);
      Object.assign(last, now);
    },
    times: () => [...times.values()],
  };
}

export default async function* testResults(events) {
  const { count, times } = timer();
  const end = endWatch();
  for await (const { type, data } of events) {
    const { name, file, nesting, details, counts } = data;
    end.sees(type);
    if (type === 'test:pass' && data.skip)
      yield `${JSON.stringify({ skip: { name, reason: data.skip === true ? 'no reason given' : data.skip } })}\n`;
    if (type === 'test:start' && times().length === 0) count('(loading)');
    if (type === 'test:fail')
      yield `${JSON.stringify({ file, failure: `${name}: ${inspect(details.error.cause ?? details.error)}` })}\n`;
    if ((type === 'test:pass' || type === 'test:fail') && nesting === 0) count(file);
    if (type === 'test:summary') yield `${JSON.stringify({ counts, times: times() })}\n`;
  }
  // When all is written. Without it Node frees what it holds, which under load has run into a loop without an end:
  // Environment::CleanupHandles waits for a request that is gone (seen with 26.10).
  process.once('beforeExit', () => process.exit());
}

/**
 * What tests leave open keeps their process alive, and node:test waits for its end to report. So what is open is listed
 * some time after the last test, and the process ends all the same.
 */
function endWatch() {
  let underWay = 0;
  let timer;
  // Between tests nothing is reported as failed, but the process ends with 1
  for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection'])
    process.on(event, (error) => underWay === 0 && console.error(`Between tests: ${inspect(error)}`));
  const onPassed = () => {
    console.error(`Still open ${END_MS / 1_000} s after the last test:`);
    for (const handle of process._getActiveHandles()) console.error(`  ${described(handle)}`);
    console.error(`  all: ${process.getActiveResourcesInfo().join(' ')}`);
    // node:test reports at this event
    process.emit('beforeExit', 0);
    setTimeout(() => process.exit(process.exitCode || LEFT_OPEN), REPORT_MS);
  };
  return {
    sees(type) {
      if (type === 'test:enqueue') underWay++;
      if (type === 'test:complete') underWay--;
      clearTimeout(timer);
      if (underWay === 0 && type !== 'test:summary') timer = setTimeout(onPassed, END_MS).unref();
    },
  };
}

function described(handle) {
  const name = handle.constructor.name;
  if (handle.spawnargs) return `${name} ${handle.pid} ${handle.spawnargs.join(' ').slice(0, 200)}`;
  if (handle.remotePort)
    return `${name} :${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`;
  if (typeof handle.address === 'function') return `${name} ${JSON.stringify(handle.address())}`;
  return `${name} ${handle.fd ?? handle.threadId ?? ''}`;
}
