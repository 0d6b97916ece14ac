/** Requests through the guard beside bare undici, over kept and over fresh connections. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createEgressByPurpose, type EgressByPurpose, readAllowList } from '@gantry/egress';
import { Client, Pool } from 'undici';
import { startServer } from './children.ts';
import { medianOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';

const AT_ONCE = 32;
const PAIRS = 9;
const METHOD = { method: 'GET', path: '/hook' } as const;

type Request = () => Promise<unknown>;

/** Requests per second. */
async function rateOf(request: Request, ms: number): Promise<number> {
  const startedAt = performance.now();
  let answered = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) {
      await request();
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return (answered * 1_000) / (performance.now() - startedAt);
}

/** Turn by turn, so that whatever else the machine does meets both. */
async function pairs(
  connections: string,
  bar: number,
  ours: Request,
  bare: Request,
  ms: number,
): Promise<Row> {
  for (const request of [ours, bare]) await rateOf(request, ms);
  const rates = { ours: [] as number[], bare: [] as number[], ratio: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair++) {
    const bareRate = await rateOf(bare, ms);
    const oursRate = await rateOf(ours, ms);
    rates.bare.push(bareRate);
    rates.ours.push(oursRate);
    rates.ratio.push(oursRate / bareRate);
  }
  const ratio = medianOf(rates.ratio);
  return {
    connections,
    'egress/s': round(medianOf(rates.ours)),
    'undici/s': round(medianOf(rates.bare)),
    ratio: round(ratio),
    bar,
    held: ratio >= bar ? 'yes' : 'no',
  };
}

function requestsTo(origin: string) {
  const allow = readAllowList(`webhook=${origin}`);
  const pool = new Pool(origin, { connections: AT_ONCE });
  const kept = createEgressByPurpose({ allow });
  const through = (egress: EgressByPurpose) => egress.for('webhook').request(origin + METHOD.path);
  return {
    kept: () => through(kept),
    bareKept: async () => (await pool.request(METHOD)).body.bytes(),
    async fresh() {
      const egress = createEgressByPurpose({ allow });
      await through(egress);
      egress.close();
    },
    async bareFresh() {
      const client = new Client(origin, { pipelining: 0 });
      await (await client.request(METHOD)).body.bytes();
      await client.close();
    },
    async close() {
      kept.close();
      await pool.destroy();
    },
  };
}

export async function egress(settings: Settings): Promise<Report> {
  const file = path.join(freshFolder(settings.dataDir), 'answers.json');
  writeFileSync(file, JSON.stringify({ [METHOD.path]: JSON.stringify({ received: true }) }));
  const args = [path.join(import.meta.dirname, 'bare/bytes-server.ts'), '--file', file];
  const server = await startServer({ args, readyPath: '/' });
  const requests = requestsTo(`http://127.0.0.1:${server.port}`);
  try {
    const { kept, bareKept, fresh, bareFresh } = requests;
    const rows = [
      await pairs('kept', 0.75, kept, bareKept, settings.callMs),
      await pairs('fresh', 0.5, fresh, bareFresh, settings.callMs),
    ];
    return { title: `Requests through egress, ${AT_ONCE} at a time, beside undici`, rows };
  } finally {
    await requests.close();
    await server.stop();
  }
}
