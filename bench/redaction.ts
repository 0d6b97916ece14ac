/** What redaction by value costs: text through twenty values in all their encodings, and events while none is open. */
import { randomBytes } from 'node:crypto';
import { createRedactor } from '@gantry/protocol/redaction';
import { createRedactions } from '../packages/host/src/redaction/redactions.ts';
import { medianOf } from './load/percentile.ts';
import { type Report, round } from './report.ts';

const VALUES = 20;
const TURNS = 9;
const TEXT_BYTES = 4 * 1024 * 1024;
const BAR_MB_PER_S = 50;
const LOOKUPS = 1_000_000;

const secret = (): string => `sk-live-${randomBytes(24).toString('base64url')}`;

/** As logs and answers look: JSON with ids, numbers and some prose. */
function textOf(bytes: number): string {
  const lines: string[] = [];
  for (let length = 0, line = 0; length < bytes; line++) {
    const id = randomBytes(9).toString('base64url');
    const text = JSON.stringify({
      id,
      line,
      status: 'completed',
      message: `Order ${line} was sent to ${id}.`,
    });
    lines.push(text);
    length += text.length + 1;
  }
  return lines.join('\n');
}

/** Milliseconds of CPU: others on the machine do not count. */
function timed(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e3;
}

export async function redaction(): Promise<Report> {
  const values = Array.from({ length: VALUES }, (_, index) => ({ value: secret(), label: `s${index}` }));
  const redactor = createRedactor(values);
  const plain = textOf(TEXT_BYTES);
  const holding = plain.replaceAll('"completed"', (word) =>
    Math.random() < 0.01 ? `"${values[0]!.value}"` : word,
  );
  const rows = Object.entries({ 'holds none': plain, 'holds some': holding }).map(([what, text]) => {
    const ms = medianOf(Array.from({ length: TURNS }, () => timed(() => redactor.redact(text))));
    const speed = text.length / 1e6 / (ms / 1e3);
    return {
      what: `${VALUES} values, text that ${what}`,
      'MB/s': round(speed),
      bar: BAR_MB_PER_S,
      held: speed >= BAR_MB_PER_S ? 'yes' : 'no',
    };
  });
  const redactions = createRedactions();
  let empty = 0;
  const look = (): void => {
    for (let lookup = 0; lookup < LOOKUPS; lookup++) if (redactions.of('acme').isEmpty) empty++;
  };
  const nanoseconds = (medianOf(Array.from({ length: TURNS }, () => timed(look))) * 1e6) / LOOKUPS;
  if (empty !== LOOKUPS * TURNS) throw new Error('the tenant has no values');
  return {
    title: 'Redaction by value',
    rows: [...rows, { what: 'no value open, for each text', ns: round(nanoseconds) }],
  };
}
