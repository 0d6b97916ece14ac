import { type Json, type JsonObject, meant } from '@gantry/protocol';
import { FAILURE_MODES, JOIN_MODES, type JoinPolicy } from '../children/join.ts';
import { type ChildTerms, type NameMap, nameMap } from '../children/mapping.ts';
import { isObject, own } from '../json.ts';
import type { Preparation } from './node-type.ts';

/** More children of one dispatch than this are never under way at once. */
export const DISPATCH_MAX_FAN_OUT = 100;

export interface Dispatch {
  readonly askUserRouting: 'clarification' | 'conversation';
  readonly fanOut:
    | { readonly policy: 'sequential' }
    | { readonly policy: 'reject' }
    | { readonly policy: 'parallel'; readonly concurrency: number; readonly join: JoinPolicy };
  readonly iterationCap: number;
  readonly terms: ChildTerms;
}

const JOIN_KEYS = ['mode', 'quorum', 'onChildFailure'];

export function dispatchConfig(preparation: Preparation): Dispatch {
  const { config, definition, issue } = preparation;
  if (!definition.nodes.some(({ typeId }) => typeId === 'core.orchestrator.supervisor'))
    issue('', 'A dispatch node needs a supervisor whose decisions it carries out');
  choice(preparation, 'workerDispatchModel', config.workerDispatchModel, ['child-run'], 'child-run');
  const routings = ['auto', 'clarification', 'conversation'] as const;
  const routing = choice(preparation, 'askUserRouting', config.askUserRouting, routings, 'auto');
  return {
    // `auto` is a conversation wherever the host advertises them, as this one does
    askUserRouting: routing === 'clarification' ? 'clarification' : 'conversation',
    fanOut: fanOutOf(preparation),
    iterationCap: count(preparation, 'iterationCap', config.iterationCap) ?? Number.POSITIVE_INFINITY,
    terms: termsOf(preparation),
  };
}

function fanOutOf(preparation: Preparation): Dispatch['fanOut'] {
  const { config, issue } = preparation;
  const policies = ['sequential', 'reject', 'parallel'] as const;
  const policy = choice(preparation, 'fanOutPolicy', config.fanOutPolicy, policies, 'sequential');
  const wish = count(preparation, 'maxConcurrency', config.maxConcurrency);
  if (policy !== 'parallel') {
    if (config.joinPolicy !== undefined) issue('joinPolicy', 'Only a parallel fan-out has a join policy');
    return { policy };
  }
  const concurrency = Math.min(wish ?? DISPATCH_MAX_FAN_OUT, DISPATCH_MAX_FAN_OUT);
  return { policy, concurrency, join: joinOf(preparation, config.joinPolicy ?? {}) };
}

function joinOf(preparation: Preparation, value: Json): JoinPolicy {
  if (!isObject(value)) preparation.issue('joinPolicy', 'A join policy is an object');
  const policy = isObject(value) ? value : {};
  checkKeys(preparation, 'joinPolicy/', policy, JOIN_KEYS);
  const quorum = count(preparation, 'joinPolicy/quorum', policy.quorum);
  const mode = choice(preparation, 'joinPolicy/mode', policy.mode, JOIN_MODES, 'wait-all');
  if (mode === 'quorum' && policy.quorum === undefined)
    preparation.issue('joinPolicy/quorum', 'A quorum says how many children have to complete');
  return {
    mode,
    quorum: quorum ?? 1,
    onChildFailure: choice(
      preparation,
      'joinPolicy/onChildFailure',
      policy.onChildFailure,
      FAILURE_MODES,
      'collect',
    ),
  };
}

function termsOf(preparation: Preparation): ChildTerms {
  const { config } = preparation;
  const inputs = nameMap(preparation, 'inputMapping', config.inputMapping);
  const outputs = nameMap(preparation, 'outputMapping', config.outputMapping);
  const workerInputs = workerMaps(preparation, 'perWorkerInputMappings');
  const workerOutputs = workerMaps(preparation, 'perWorkerOutputMappings');
  return {
    mappingOf: (workflowId) => ({
      inputs: workerInputs.get(workflowId) ?? inputs,
      outputs: workerOutputs.get(workflowId) ?? outputs,
    }),
    propagateCancellation: true,
  };
}

const WORKERS_MAX = 256;

function workerMaps(preparation: Preparation, key: string): Map<string, NameMap> {
  const value = preparation.config[key] ?? {};
  if (!isObject(value) || Object.keys(value).length > WORKERS_MAX) {
    preparation.issue(key, `It holds the mappings of at most ${WORKERS_MAX} workers, by workflow id`);
    return new Map();
  }
  return new Map(
    Object.keys(value).map((worker) => [
      worker,
      nameMap(preparation, `${key}/${worker}`, own(value, worker)),
    ]),
  );
}

function checkKeys(
  preparation: Preparation,
  prefix: string,
  value: JsonObject,
  known: readonly string[],
): void {
  for (const key of Object.keys(value))
    if (!known.includes(key))
      preparation.issue(`${prefix}${key}`, `There is no setting ${key}${meant(key, known)}`);
}

function choice<Choice extends string>(
  preparation: Preparation,
  key: string,
  value: Json | undefined,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  if (value === undefined) return fallback;
  const found = choices.find((item) => item === value);
  if (found === undefined) preparation.issue(key, `It is ${choices.join(', ')}`);
  return found ?? fallback;
}

function count(preparation: Preparation, key: string, value: Json | undefined): number | undefined {
  if (value === undefined) return;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  preparation.issue(key, 'It is a whole number from 1');
  return;
}
