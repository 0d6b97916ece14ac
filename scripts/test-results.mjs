// A reporter of node:test: a JSON line for each test that failed, and one with the counts at the end.
import { inspect } from 'node:util';

export default async function* testResults(events) {
  for await (const { type, data } of events) {
    const { name, file, details, counts } = data;
    if (type === 'test:fail')
      yield `${JSON.stringify({ file, failure: `${name}: ${inspect(details.error.cause ?? details.error)}` })}\n`;
    if (type === 'test:summary') yield `${JSON.stringify({ counts })}\n`;
  }
}
