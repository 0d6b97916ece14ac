/** One tenant's flood, in a process of its own: options as JSON in the first argument, a count as JSON on stdout. */
import { Connection, requestBytes, type Target } from './http.ts';

export const FLOODS = ['large', 'steps', 'reads'] as const;
export type FloodKind = (typeof FLOODS)[number];

export interface FloodRequest extends Target {
  readonly kind: FloodKind;
  readonly durationMs: number;
  /** What `reads` reads. */
  readonly runId: string;
}

/** Whose input makes the expression of the workflow `flood` use up all its steps. */
const STEPS_LIST = Array.from({ length: 400 }, (_, i) => i);
const LARGE_BYTES = 900_000;

function requestOf(request: FloodRequest): { connections: number; bytes: Buffer } {
  const create = (body: object): Buffer =>
    requestBytes(request, 'POST', '/v1/runs', { body: JSON.stringify(body) });
  switch (request.kind) {
    case 'large':
      return {
        connections: 16,
        bytes: create({ workflowId: 'flood', inputs: { text: 'x'.repeat(LARGE_BYTES) } }),
      };
    case 'steps':
      return { connections: 16, bytes: create({ workflowId: 'flood', inputs: { list: STEPS_LIST } }) };
    case 'reads':
      return { connections: 64, bytes: requestBytes(request, 'GET', `/v1/runs/${request.runId}`) };
  }
}

async function flood(request: FloodRequest): Promise<{ answered: Record<string, number> }> {
  const { connections, bytes } = requestOf(request);
  const answered: Record<string, number> = {};
  const until = performance.now() + request.durationMs;
  const keepBusy = async (): Promise<void> => {
    const connection = new Connection(request.port);
    await connection.opened();
    while (performance.now() < until) {
      const { status } = await connection.send(bytes);
      answered[status] = (answered[status] ?? 0) + 1;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, keepBusy));
  return { answered };
}

if (import.meta.main) console.log(JSON.stringify(await flood(JSON.parse(process.argv[2] ?? ''))));
