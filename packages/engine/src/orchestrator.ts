/** Decisions of a supervisor: their format, and the state that a run keeps of them. */
import { given, type Json, type JsonObject } from '@gantry/protocol';
import type { Draft } from './apply.ts';
import { isObject } from './json.ts';
import { numberAt, objectAt, textAt } from './payload.ts';
import type { Run } from './run.ts';

export type OrchestratorDecision =
  | {
      readonly kind: 'next-worker';
      readonly nextWorkerIds: readonly string[];
      readonly confidence?: number;
    }
  | { readonly kind: 'ask-user'; readonly prompt: string }
  | {
      readonly kind: 'terminate';
      readonly reason?: string;
      readonly confidence?: number;
      readonly successCriteria?: readonly { readonly key: string; readonly met: boolean }[];
    };

/** The supervisor of a run and what it decided so far. */
export interface Orchestrator {
  /** Fixed for the run. */
  readonly agentId: string;
  /** The number of decisions so far; the next one is turn `iteration + 1`. */
  readonly iteration: number;
  /** Children dispatched so far, over all dispatch nodes. */
  readonly dispatched: number;
  readonly latest?: {
    readonly decision: JsonObject;
    /** Sequence of its `runOrchestrator.decided`. */
    readonly sequence: number;
    readonly nodeId: string;
    /** The dispatch node that executes it; no other node does. */
    readonly takenBy?: string;
  };
}

const WORKERS_MAX = 1_000;
const WORKER_ID_CHARS_MAX = 256;
const TEXT_CHARS_MAX = 16_384;
const CRITERIA_MAX = 100;

const KEYS: { readonly [Kind in OrchestratorDecision['kind']]: readonly string[] } = {
  'next-worker': ['kind', 'nextWorkerIds', 'confidence'],
  'ask-user': ['kind', 'prompt'],
  terminate: ['kind', 'reason', 'confidence', 'successCriteria'],
};

/** Reads a decision; returns an error text when it is not valid. */
export function decisionOf(value: Json | undefined): OrchestratorDecision | string {
  if (!isObject(value)) return 'A decision must be an object';
  const kind = value.kind;
  if (kind !== 'next-worker' && kind !== 'ask-user' && kind !== 'terminate')
    return 'The `kind` of a decision must be next-worker, ask-user or terminate';
  const stranger = Object.keys(value).find((key) => !KEYS[kind].includes(key));
  if (stranger !== undefined) return `A decision of kind ${kind} has no ${stranger}`;
  const { confidence } = value;
  if (confidence !== undefined && !isConfidence(confidence))
    return '`confidence` must be a number from 0 to 1';
  switch (kind) {
    case 'next-worker':
      return isWorkers(value.nextWorkerIds)
        ? { kind, nextWorkerIds: value.nextWorkerIds, ...stated(confidence) }
        : `\`nextWorkerIds\` must list 1 to ${WORKERS_MAX} workflow ids`;
    case 'ask-user':
      return isText(value.prompt) ? { kind, prompt: value.prompt } : '`prompt` must be a string';
    case 'terminate':
      return terminateOf(value);
  }
}

function terminateOf({ reason, confidence, successCriteria }: JsonObject): OrchestratorDecision | string {
  if (reason !== undefined && !isText(reason)) return '`reason` must be a string';
  if (successCriteria !== undefined && !isCriteria(successCriteria))
    return '`successCriteria` must list objects of `key` and `met`';
  return { kind: 'terminate', ...stated(confidence), ...given({ reason, successCriteria }) };
}

export const isConfidence = (value: Json | undefined): value is number =>
  typeof value === 'number' && value >= 0 && value <= 1;

const stated = (confidence: Json | undefined): { confidence?: number } =>
  isConfidence(confidence) ? { confidence } : {};

const isText = (value: Json | undefined): value is string =>
  typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX;

const isWorkers = (value: Json | undefined): value is string[] =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= WORKERS_MAX &&
  value.every((id) => typeof id === 'string' && id !== '' && id.length <= WORKER_ID_CHARS_MAX);

const isCriteria = (value: Json): value is { key: string; met: boolean }[] =>
  Array.isArray(value) &&
  value.length <= CRITERIA_MAX &&
  value.every(
    (item) =>
      isObject(item) && isText(item.key) && typeof item.met === 'boolean' && Object.keys(item).length === 2,
  );

export function foldDecision(run: Draft, nodeId: string, payload: JsonObject): void {
  const iteration = run.orchestrator?.iteration ?? 0;
  run.orchestrator = {
    agentId: run.orchestrator?.agentId ?? textAt(payload, 'agentId'),
    iteration: numberAt(payload, 'iteration', iteration + 1),
    dispatched: run.orchestrator?.dispatched ?? 0,
    latest: { decision: objectAt(payload, 'decision') ?? {}, sequence: run.nextSeq - 1, nodeId },
  };
}

/** A dispatch node claims the pending decision when it starts, so that no decision is executed twice. */
export function takeDecision(run: Draft, nodeId: string, typeId: Json | undefined): void {
  const latest = run.orchestrator?.latest;
  if (typeId !== 'core.dispatch' || !run.orchestrator || !latest || latest.takenBy !== undefined) return;
  run.orchestrator = { ...run.orchestrator, latest: { ...latest, takenBy: nodeId } };
}

/** The outputs that a decision to terminate adds to the run. */
export function terminationOf(run: Run): JsonObject {
  const decision = run.orchestrator?.latest?.decision;
  if (decision?.kind !== 'terminate') return {};
  const { reason, successCriteria } = decision;
  return given({ reason, successCriteria });
}
