// A reporter of node:test: a JSON line for each test that failed, and one at the end with the counts and with the
// seconds and CPU seconds that each file took.
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';

const TICKS_PER_SECOND = 100;

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
  for await (const { type, data } of events) {
    const { name, file, nesting, details, counts } = data;
    if (type === 'test:start' && times().length === 0) count('(loading)');
    if (type === 'test:fail')
      yield `${JSON.stringify({ file, failure: `${name}: ${inspect(details.error.cause ?? details.error)}` })}\n`;
    if ((type === 'test:pass' || type === 'test:fail') && nesting === 0) count(file);
    if (type === 'test:summary') yield `${JSON.stringify({ counts, times: times() })}\n`;
  }
}
