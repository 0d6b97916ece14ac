/** Reading a run must not get slower with its length. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, requestBytes, type Target } from './load/http.ts';
import { spreadOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { targetOf, withHost } from './servers.ts';
import type { Settings } from './settings.ts';

/** A page near the end of the log. */
const PAGE_EVENTS = 100;
/** What one turn of the loop writes: started and completed, for the loop node and its body. */
const EVENTS_PER_TURN = 4;

async function get(connection: Connection, target: Target, path: string) {
  const answer = await connection.send(requestBytes(target, 'GET', path));
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
  return answer.body;
}

async function waitForEnd(connection: Connection, target: Target, runId: string, timeoutMs: number) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { status, error } = JSON.parse((await get(connection, target, `/v1/runs/${runId}`)).toString());
    if (status === 'completed') return;
    if (status === 'failed' || status === 'cancelled')
      throw new Error(`the long run ${status}: ${error?.message}`);
    if (performance.now() > deadline) throw new Error('the long run did not end in time');
    await sleep(100);
  }
}

async function timed(connection: Connection, target: Target, path: string, times: number): Promise<Row> {
  const samples: number[] = [];
  let bytes = 0;
  for (let read = 0; read < times; read++) {
    const startedAt = performance.now();
    bytes = (await get(connection, target, path)).length;
    samples.push(performance.now() - startedAt);
  }
  const spread = spreadOf(samples);
  return { 'p50 ms': round(spread?.p50), 'p99 ms': round(spread?.p99), KiB: round(bytes / 1024) };
}

export function longRun(settings: Settings): Promise<Report> {
  return withHost(settings.dataDir, async (server) => {
    const target = targetOf(server);
    const connection = new Connection(server.port);
    const count = Math.ceil(settings.longRunEvents / EVENTS_PER_TURN);
    const body = JSON.stringify({ workflowId: 'bench-long', inputs: { count } });
    const startedAt = performance.now();
    const created = await connection.send(requestBytes(target, 'POST', '/v1/runs', { body }));
    if (created.status !== 201) throw new Error(`create answered ${created.status}: ${created.body}`);
    const { runId } = JSON.parse(created.body.toString());
    await waitForEnd(connection, target, runId, settings.longRunTimeoutMs);
    const ranMs = performance.now() - startedAt;
    const page = `/v1/runs/${runId}/events/poll?lastSequence=${count * EVENTS_PER_TURN - PAGE_EVENTS}`;
    const end = JSON.parse((await get(connection, target, page)).toString());
    if (!end.isComplete) throw new Error('the page near the end of the log does not reach its end');
    const events = Number(end.lastEventSeq) + 1;
    const rows: Row[] = [
      { read: 'snapshot', ...(await timed(connection, target, `/v1/runs/${runId}`, settings.reads)) },
      {
        read: `last ${end.events.length} events`,
        ...(await timed(connection, target, page, settings.reads)),
      },
    ];
    connection.close();
    return { title: `Reading a run of ${events} events (it ran ${Math.round(ranMs)} ms)`, rows };
  });
}
