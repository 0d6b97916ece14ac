/** The result of an evaluation. Pure. Only a change of state starts a run, never the tick itself. */
import {
  HEARTBEAT_LIMITS,
  type HeartbeatTick,
  isObject,
  isTerminal,
  type JsonObject,
  type RunError,
  type RunSnapshot,
} from '@gantry/protocol';
import canonicalize from 'canonicalize';

export type Observation =
  | { readonly status: 'ok'; readonly state: JsonObject; readonly enqueue: boolean }
  | { readonly status: 'timeout' }
  | { readonly status: 'error'; readonly error: RunError };

export interface Transition {
  readonly tick: HeartbeatTick;
  /** The state that the next evaluation is compared with. */
  readonly seen: JsonObject | null;
  readonly enqueue: boolean;
}

const failed = (message: string): Observation => ({
  status: 'error',
  error: { code: 'heartbeat_predicate_failed', message },
});

/** The outcome of the predicate's run; null while it is running. Masked values stay masked. */
export function observationOf(run: RunSnapshot): Observation | null {
  if (!isTerminal(run.status)) return null;
  if (run.error?.code === 'run_timeout') return { status: 'timeout' };
  if (run.status !== 'completed') {
    const { code, message } = run.error ?? { code: 'run_cancelled', message: `The run is ${run.status}.` };
    return { status: 'error', error: { code, message } };
  }
  const { state, enqueue } = run.outputs ?? {};
  if (!isObject(state)) return failed('The predicate must end with an object as its output `state`.');
  const bytes = Buffer.byteLength(JSON.stringify(state));
  const { stateBytesMax } = HEARTBEAT_LIMITS;
  if (bytes > stateBytesMax)
    return failed(`The state has ${bytes} bytes; at most ${stateBytesMax} are kept.`);
  return { status: 'ok', state, enqueue: enqueue === true };
}

/** The first observation counts as a change, so that a state older than the heartbeat is handled. */
export function transition(
  heartbeatId: string,
  seen: JsonObject | null,
  observation: Observation,
  at: { readonly now: number; readonly sequence: number; readonly runId?: string },
): Transition {
  const { status } = observation;
  const { now, ...tick } = at;
  const base = { at: new Date(now).toISOString(), ...tick };
  if (status !== 'ok') {
    const evaluated = { heartbeatId, status, changed: false };
    const error = status === 'error' ? { error: observation.error } : {};
    return { tick: { ...base, evaluated, ...error }, seen, enqueue: false };
  }
  const { state, enqueue } = observation;
  const changed = seen === null || canonicalize(seen) !== canonicalize(state);
  const evaluated = { heartbeatId, status, changed };
  if (!changed) return { tick: { ...base, evaluated }, seen, enqueue: false };
  const stateChanged = { heartbeatId, from: seen ?? {}, to: state };
  return { tick: { ...base, evaluated, stateChanged }, seen: state, enqueue };
}
