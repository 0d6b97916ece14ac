import type { Json } from '@gantry/protocol';
import { FAILURE_MODES, JOIN_MODES, type JoinPolicy } from '../children/join.ts';
import { type ChildTerms, type Mapping, type NameMap, nameMap } from '../children/mapping.ts';
import { isObject, own } from '../json.ts';
import type { Preparation } from './node-type.ts';
import { settingsOf } from './settings.ts';

/** The maximum number of children of one dispatch that run at once. */
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
  const { definition, issue } = preparation;
  const { choice, whole } = settingsOf(preparation);
  if (!definition.nodes.some(({ typeId }) => typeId === 'core.orchestrator.supervisor'))
    issue('', 'A dispatch node requires a supervisor whose decisions it carries out');
  choice('workerDispatchModel', ['child-run']);
  const routing = choice('askUserRouting', ['auto', 'clarification', 'conversation']);
  return {
    // `auto` means a conversation if the host advertises them, as this one does
    askUserRouting: routing === 'clarification' ? routing : 'conversation',
    fanOut: fanOutOf(preparation),
    iterationCap: whole('iterationCap', 1) ?? Number.POSITIVE_INFINITY,
    terms: termsOf(preparation),
  };
}

function fanOutOf(preparation: Preparation): Dispatch['fanOut'] {
  const { config, issue } = preparation;
  const { choice, whole } = settingsOf(preparation);
  const policy = choice('fanOutPolicy', ['sequential', 'reject', 'parallel']) ?? 'sequential';
  const wish = whole('maxConcurrency', 1);
  if (policy !== 'parallel') {
    if (config.joinPolicy !== undefined) issue('joinPolicy', 'Only a parallel fan-out has a join policy');
    return { policy };
  }
  const concurrency = Math.min(wish ?? DISPATCH_MAX_FAN_OUT, DISPATCH_MAX_FAN_OUT);
  return { policy, concurrency, join: joinOf(preparation, config.joinPolicy ?? {}) };
}

function joinOf(preparation: Preparation, value: Json): JoinPolicy {
  const { issue, unknown } = preparation;
  if (!isObject(value)) issue('joinPolicy', 'A join policy must be an object');
  const policy = isObject(value) ? value : {};
  for (const key of Object.keys(policy))
    if (!JOIN_KEYS.includes(key)) unknown(`joinPolicy/${key}`, `There is no setting ${key}`, key, JOIN_KEYS);
  const { choice, whole } = settingsOf(preparation, policy, 'joinPolicy/');
  const mode = choice('mode', JOIN_MODES) ?? 'wait-all';
  if (mode === 'quorum' && policy.quorum === undefined)
    issue('joinPolicy/quorum', 'A quorum must say how many children have to complete');
  const onChildFailure = choice('onChildFailure', FAILURE_MODES) ?? 'collect';
  return { mode, quorum: whole('quorum', 1) ?? 1, onChildFailure };
}

function termsOf(preparation: Preparation): ChildTerms {
  const { config } = preparation;
  const inputs = nameMap(preparation, 'inputMapping', config.inputMapping, 'inputs');
  const outputs = nameMap(preparation, 'outputMapping', config.outputMapping, 'outputs');
  const workerInputs = workerMaps(preparation, 'perWorkerInputMappings', 'inputs');
  const workerOutputs = workerMaps(preparation, 'perWorkerOutputMappings', 'outputs');
  return {
    mappingOf: (workflowId) => ({
      inputs: workerInputs.get(workflowId) ?? inputs,
      outputs: workerOutputs.get(workflowId) ?? outputs,
    }),
    propagateCancellation: true,
  };
}

const WORKERS_MAX = 256;

function workerMaps(preparation: Preparation, key: string, direction: keyof Mapping): Map<string, NameMap> {
  const value = preparation.config[key] ?? {};
  if (!isObject(value) || Object.keys(value).length > WORKERS_MAX) {
    preparation.issue(key, `It can hold the mappings of at most ${WORKERS_MAX} workers, by workflow id`);
    return new Map();
  }
  return new Map(
    Object.keys(value).map((worker) => [
      worker,
      nameMap(preparation, `${key}/${worker}`, own(value, worker), direction),
    ]),
  );
}
