/** Every way in which a run comes to be, as one person asks for it. */
import assert from 'node:assert/strict';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { type Person, type RightsRig, WORKFLOWS } from './rights-rig.ts';

/** A run, and the one that it comes from if it comes from one. */
export interface Made {
  readonly runId: string;
  readonly source?: string;
}
/** Begins; what it answers makes the run, maybe after the keys of the person have ended. */
export type Way = (who: Person) => Promise<() => Promise<Made>>;

export class Refused extends Error {}

const HOST_RUNS = '/v1/host/gantry/runs';
const ACCEPT = { resumeValue: { action: 'accept' } };

type Answer = Awaited<ReturnType<Person['post']>>;

function accepted(answer: Answer): JsonObject {
  if (answer.statusCode >= 300) throw new Refused(`${answer.statusCode} ${answer.json().error}`);
  return answer.json();
}

const runOf = (answer: Answer): string => String(accepted(answer).runId);

const started = async (who: Person, workflowId: string): Promise<string> =>
  runOf(await who.post('/v1/runs', { workflowId }));

const newest = async (rig: RightsRig, workflowId: string): Promise<string> =>
  (await rig.get(`/v1/runs?workflowId=${workflowId}&limit=1`)).json().runs[0]?.runId ?? '';

/** Runs of one person that have failed, and one that has completed since. */
interface Sources {
  readonly failed: string;
  /** With a dead letter each, by run. */
  readonly letters: Map<string, string>;
  readonly completed: string;
  /** Where the node begins that failed. */
  readonly fromSeq: number;
}

async function sourcesOf(rig: RightsRig, ann: Person): Promise<Sources> {
  const runIds: string[] = [];
  for (let runs = 0; runs < 3; runs++) {
    const runId = await started(ann, 'job');
    await rig.answered(runId);
    assert.equal((await rig.ended(runId)).status, 'failed');
    runIds.push(runId);
  }
  const [failed = '', ...others] = runIds;
  const { deadLetters } = (await rig.get('/v1/host/gantry/dead-letters')).json();
  const letterOf = (runId: string): string =>
    deadLetters.find((each: JsonObject) => each.runId === runId).deadLetterId;
  const fromSeq = (await rig.events(failed)).findIndex(({ nodeId }) => nodeId === 'flaky');
  await rig.mend();
  const branch = { mode: 'branch', fromSeq };
  const completed = runOf(await ann.post(`/v1/runs/${failed}:fork`, branch));
  assert.equal((await rig.ended(completed)).status, 'completed');
  const letters = new Map([...others, failed].map((runId) => [runId, letterOf(runId)]));
  return { failed, letters, completed, fromSeq };
}

/** Made as soon as it is asked for. */
const asking =
  (ask: (who: Person) => Promise<Made>): Way =>
  async (who) =>
  () =>
    ask(who);

function fromSource(rig: RightsRig, { failed: source, letters, completed, fromSeq }: Sources) {
  const made =
    (url: string, body?: object): Way =>
    (who) =>
      asking(async () => ({ runId: runOf(await who.post(url, body)), source }))(who);
  /** Its gate is answered with a key, which makes nothing untrusted. */
  const anew =
    (url: string, body?: object): Way =>
    (who) =>
      asking(async () => {
        const runId = runOf(await who.post(url, body));
        await rig.asks(runId, 'gate');
        await rig.post(`/v1/runs/${runId}/interrupts/gate`, ACCEPT);
        return { runId, source };
      })(who);
  return {
    fork: anew(`/v1/runs/${source}:fork`, { mode: 'branch', fromSeq: 0 }),
    branch: made(`/v1/runs/${source}:fork`, { mode: 'branch', fromSeq }),
    replay: made(`/v1/runs/${completed}:fork`, { mode: 'replay' }),
    repair: made(`${HOST_RUNS}/${source}:repair`),
    again: anew(`${HOST_RUNS}/${source}:again`),
    retry: asking(async (who) => {
      const [of, letter] = [...letters][0] ?? ['', ''];
      const runId = runOf(await who.post(`/v1/host/gantry/dead-letters/${letter}:retry`));
      letters.delete(of);
      return { runId, source: of };
    }),
  };
}

function unattended(rig: RightsRig) {
  const { schedules, triggers } = rig.host.services;
  const schedule: Way = async (who) => {
    const wanted = { workflowId: 'plain', cron: '0 0 1 1 *' };
    const { scheduleId, nextFireAt } = accepted(await who.post('/v1/host/gantry/schedules', wanted));
    return async () => {
      const id = String(scheduleId);
      await schedules.fireAt({ tenant: 'default', id }, Date.parse(String(nextFireAt)));
      return { runId: (await rig.get(`/v1/host/gantry/schedules/${id}`)).json().lastFire.runId };
    };
  };
  const trigger: Way = async (who) => {
    const wanted = { workflowId: 'plain', source: 'webhook', verification: { mode: 'none' } };
    const { subscription } = accepted(await who.post('/v1/trigger-subscriptions', wanted));
    const url = `/v1/ingest/${Object(subscription).subscriptionId}`;
    return async () => {
      const before = await newest(rig, 'plain');
      await rig.host.app.inject({ method: 'POST', url, payload: { by: who.principal } });
      for (;;) {
        await triggers.tick();
        const runId = await newest(rig, 'plain');
        if (runId !== before) return { runId };
      }
    };
  };
  return { schedule, trigger };
}

const nesting =
  (rig: RightsRig, workflowId: 'child' | 'dispatch'): Way =>
  async (who) => {
    if (who.tenant !== 'default') return () => startsNothing(who, WORKFLOWS[workflowId]);
    const source = await started(who, workflowId);
    return async () => {
      await rig.answered(source);
      await rig.ended(source);
      return { runId: await newest(rig, 'plain'), source };
    };
  };

/** The child that this definition names belongs to another tenant. */
async function startsNothing(who: Person, definition: WorkflowDefinition): Promise<never> {
  const nodes = definition.nodes.filter(({ id }) => id !== 'gate');
  const edges = definition.edges.filter(({ sourceNodeId }) => sourceNodeId !== 'gate');
  accepted(await who.post('/v1/host/gantry/workflows', { ...definition, nodes, edges }));
  const runId = await started(who, definition.id);
  for (;;) {
    const { isTerminal } = (await who.get(`/v1/runs/${runId}/events/poll?timeout=60`)).json();
    if (isTerminal) throw new Refused((await who.get(`/v1/runs/${runId}`)).json().error.code);
  }
}

export async function waysOf(rig: RightsRig, ann: Person): Promise<Record<string, Way>> {
  return {
    ...fromSource(rig, await sourcesOf(rig, ann)),
    ...unattended(rig),
    child: nesting(rig, 'child'),
    dispatch: nesting(rig, 'dispatch'),
  };
}
