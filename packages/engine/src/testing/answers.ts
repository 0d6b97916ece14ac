/** Short ways to answer open questions, and to hold a log to what every log must keep. */
import assert from 'node:assert/strict';
import type { Json, JsonObject } from '@gantry/protocol';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { type Decision, fold, newRun, type Resolver, runOf } from '../index.ts';
import { plain, type Trial } from './workflow.ts';

export const key = (principal = 'key-1', extras: Partial<Resolver> = {}): Resolver => ({
  principal,
  roles: [],
  scopes: ['approvals:respond'],
  authenticated: true,
  ...extras,
});

/** Someone with nothing but a signed link. */
export const link: Resolver = { principal: 'link-1', roles: [], scopes: [], authenticated: false };

export function answer(trial: Trial, nodeId: string, resumeValue: Json, by = key()): Decision {
  return trial.give({ type: 'resolve', now: trial.now, nodeId, resumeValue, by });
}

/** What the answer was refused for; undefined when it was taken. */
export const refusalOf = (trial: Trial, nodeId: string, value: Json, by = key()): string | undefined =>
  answer(trial, nodeId, value, by).refusal?.code;

const IDENTITY = ['runId', 'nodeId', 'interruptId', 'requestedAt', 'expiresAt'];

/** The public schema of this event is closed, though the text demands that it carries identity. */
const stripped = (payload: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !IDENTITY.includes(name)));

/** The log folds to the run that was decided, and its payloads fit the public schemas. */
export function assertSound(trial: Trial): void {
  const events = JSON.parse(JSON.stringify(trial.events));
  assert.deepEqual(fold(newRun(trial.run.facts), events), trial.run);
  assert.deepEqual(plain(runOf(plain(trial.run))), plain(trial.run));
  const index = publicValidator('run-event-payloads.schema.json#/$defs/_typeIndex');
  for (const { type, payload } of trial.events) {
    // Held to the public schema beside the channels: it does not know the reducer `message` yet.
    if (type === 'channel.written') continue;
    assert.deepEqual(
      index?.({ [type]: type === 'interrupt.requested' ? stripped(payload) : payload }) ?? [],
      [],
      `${type} ${JSON.stringify(payload)}`,
    );
  }
}
