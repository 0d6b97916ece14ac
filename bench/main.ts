/**
 * npm run bench -- [--quick] [--only throughput,idle] [--slow-disk] [--against checkout] [--json file] [--data folder]
 * Measures the host on loopback beside the bare limit of this machine. Ends by itself.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { approvals } from './approvals.ts';
import { changes } from './changes.ts';
import { cpu, cpuOnPostgres } from './cpu.ts';
import { egress } from './egress.ts';
import { fanOut } from './fan-out.ts';
import { flood } from './flood.ts';
import { coldStart, idle, waiting } from './footprint.ts';
import { fullText } from './full-text.ts';
import { longRun } from './long-run.ts';
import { redaction } from './redaction.ts';
import { registry } from './registry.ts';
import { type Failure, formatReport, type Report } from './report.ts';
import { sandbox } from './sandbox.ts';
import { type Settings, settingsFor } from './settings.ts';
import { streams } from './streams.ts';
import { surfaces } from './surfaces.ts';
import { throughput } from './throughput.ts';
import { toolCall } from './tool-call.ts';
import { vectors } from './vectors.ts';

const PARTS: Readonly<Record<string, (settings: Settings) => Promise<Report>>> = {
  throughput: (settings) => throughput(settings, 'fast'),
  'slow-disk': (settings) => throughput(settings, 'slow'),
  cpu,
  'cpu-postgres': cpuOnPostgres,
  'fan-out': fanOut,
  flood,
  'cold-start': coldStart,
  idle,
  waiting,
  approvals,
  'long-run': longRun,
  changes,
  sandbox,
  egress,
  'tool-call': toolCall,
  streams,
  redaction,
  registry,
  surfaces,
  vectors,
  'full-text': fullText,
};
/** These look closer: `throughput` and `surfaces` say the same in fewer rows. */
const ON_REQUEST: readonly string[] = ['slow-disk', 'cpu', 'cpu-postgres', 'vectors', 'full-text'];

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    'slow-disk': { type: 'boolean', default: false },
    against: { type: 'string' },
    json: { type: 'string' },
    data: { type: 'string', default: path.join(import.meta.dirname, '.gantry') },
  },
});

function wantedParts(): string[] {
  const named = values.only?.split(',') ?? Object.keys(PARTS).filter((part) => !ON_REQUEST.includes(part));
  const unknown = named.filter((part) => !(part in PARTS));
  if (unknown.length > 0)
    throw new Error(`no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
  return [...new Set([...named, ...(values['slow-disk'] ? ['slow-disk'] : [])])];
}

/** A part that breaks is reported and does not take the others with it. */
async function measure(part: string, settings: Settings): Promise<Report | Failure> {
  try {
    return (await PARTS[part]?.(settings)) ?? { title: part, rows: [] };
  } catch (error) {
    process.exitCode = 1;
    return { title: `${part}: failed`, error: error instanceof Error ? error.message : String(error) };
  }
}

const print = (report: Report | Failure): void =>
  console.log(`\n${'error' in report ? `${report.title}\n${report.error}` : formatReport(report)}`);

const parts = wantedParts();
mkdirSync(values.data, { recursive: true });
const dataDir = mkdtempSync(path.join(values.data, 'bench-'));
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

const machine = `${process.platform}-${process.arch}, ${cpus().length} cores, Node ${process.version}`;
console.log(`${machine}${values.quick ? ', quick' : ''}`);
const reports: Record<string, Report | Failure> = {};
for (const part of parts) {
  const report = await measure(part, settingsFor(dataDir, values.against ?? null, values.quick));
  reports[part] = report;
  print(report);
}
if (values.json) {
  const document = { at: new Date().toISOString(), machine, quick: values.quick, reports };
  writeFileSync(values.json, `${JSON.stringify(document, null, 2)}\n`);
}
