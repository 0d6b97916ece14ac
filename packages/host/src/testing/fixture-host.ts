/** A host that serves the public fixtures, for tests that run them the way the public suite does. */
import assert from 'node:assert/strict';
import type { Json, JsonObject, RunEventDoc } from '@gantry/protocol';
import type { LightMyRequestResponse } from 'fastify';
import { publicFixturesFolder } from '../../../protocol/src/testing/public-schemas.ts';
import { type ApiTest, apiTest, assertPublic } from '../api/testing/api-test.ts';
import { onePerFile } from './one-per-file.ts';

export interface FixtureHost extends ApiTest {
  events(runId: string): Promise<RunEventDoc[]>;
  /** Follows the run until it has that status. */
  reaches(runId: string, status: string): Promise<JsonObject>;
  answer(runId: string, nodeId: string, resumeValue: Json): Promise<LightMyRequestResponse>;
}

export const fixtureHost = onePerFile(async (t): Promise<FixtureHost> => {
  const api = await apiTest(t, { settings: { workflowsDir: publicFixturesFolder }, workflows: [] });
  const snapshot = async (runId: string): Promise<JsonObject> => (await api.get(`/v1/runs/${runId}`)).json();
  return {
    ...api,
    async events(runId) {
      const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
      for (const event of events) assertPublic('run-event.schema.json', event);
      return events;
    },
    async reaches(runId, status) {
      for (let last = -1; ; ) {
        const read = await snapshot(runId);
        if (read.status === status) return read;
        assert.ok(!/^(completed|failed|cancelled)$/.test(String(read.status)), JSON.stringify(read));
        const cursor = last < 0 ? '' : `&lastSequence=${last}`;
        const answer = (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
        assert.ok(answer.lastEventSeq > last, `the run stays ${read.status}, not ${status}`);
        last = answer.lastEventSeq;
      }
    },
    answer: (runId, nodeId, resumeValue) =>
      api.post(`/v1/runs/${runId}/interrupts/${nodeId}`, { resumeValue }),
  };
});
