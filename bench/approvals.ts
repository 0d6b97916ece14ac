/** Runs that wait for a person: what they cost while they wait, and how fast an answer is taken. */
import { setTimeout as sleep } from 'node:timers/promises';
import { activity, residentMiB } from './children.ts';
import { createRuns, WARM_UP_RUNS } from './footprint.ts';
import { Connection, requestBytes, type Target } from './load/http.ts';
import { spreadOf } from './load/percentile.ts';
import { type Report, round } from './report.ts';
import { targetOf, withHost } from './servers.ts';
import type { Settings } from './settings.ts';

const ANSWERS_MAX = 1000;
const PAGE = 200;

async function openQuestions(connection: Connection, target: Target, count: number): Promise<string[]> {
  const paths: string[] = [];
  let before = '';
  while (paths.length < count) {
    const query = `/v1/host/gantry/interrupts?limit=${PAGE}${before && `&before=${before}`}`;
    const answer = await connection.send(requestBytes(target, 'GET', query));
    if (answer.status !== 200) throw new Error(`the inbox answered ${answer.status}: ${answer.body}`);
    const { interrupts, nextBefore } = JSON.parse(answer.body.toString());
    for (const { runId, nodeId } of interrupts) paths.push(`/v1/runs/${runId}/interrupts/${nodeId}`);
    if (nextBefore === undefined) break;
    before = nextBefore;
  }
  return paths.slice(0, count);
}

async function answerAll(connection: Connection, target: Target, paths: readonly string[]) {
  const body = JSON.stringify({ resumeValue: { action: 'accept' } });
  const create = requestBytes(target, 'POST', '/v1/runs', {
    body: JSON.stringify({ workflowId: 'bench-noop' }),
  });
  const answers: number[] = [];
  const creates: number[] = [];
  for (const path of paths) {
    const request = requestBytes(target, 'POST', path, { body });
    const answer = await timed(connection, request, answers);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
    await timed(connection, create, creates);
  }
  return { answers: spreadOf(answers), creates: spreadOf(creates) };
}

async function timed(connection: Connection, request: Buffer, samples: number[]) {
  const startedAt = performance.now();
  const answer = await connection.send(request);
  samples.push(performance.now() - startedAt);
  return answer;
}

export function approvals(settings: Settings): Promise<Report> {
  return withHost(settings.dataDir, async (server) => {
    const target = targetOf(server);
    // Ended runs first: what the code and its caches take is not what waiting runs take.
    await createRuns(server, WARM_UP_RUNS, 'bench-noop', {}, settings.drainTimeoutMs);
    await sleep(settings.settleMs);
    const before = residentMiB(server.pid);
    const { created } = await createRuns(server, settings.approvals, 'bench-approval', {}, 0);
    await sleep(settings.settleMs);
    const after = residentMiB(server.pid);
    const idleFrom = activity(server.pid);
    await sleep(settings.idleMs);
    const idleTo = activity(server.pid);
    const connection = new Connection(server.port);
    const paths = await openQuestions(connection, target, ANSWERS_MAX);
    // Creates in between are the yardstick: one commit and no run to be read before it.
    const { answers, creates } = await answerAll(connection, target, paths);
    connection.close();
    return {
      title: 'Runs that wait for an approval',
      rows: [
        {
          runs: created,
          'added MiB': round(before === null || after === null ? null : after - before),
          'CPU ms/s': round(
            idleFrom && idleTo ? (idleTo.cpuMs - idleFrom.cpuMs) / (settings.idleMs / 1000) : null,
          ),
          answered: paths.length,
          'p50 ms': round(answers?.p50),
          'p99 ms': round(answers?.p99),
          'create p50 ms': round(creates?.p50),
          'create p99 ms': round(creates?.p99),
        },
      ],
    };
  });
}
