/** `ctx.sideEffects`: pack code claims an effect before it acts, and reports the outcome. */
import { hash } from 'node:crypto';
import { invalid, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Data } from '@gantry/sandbox';
import type { InvocationLog } from '../../runtime/invocation-log.ts';
import { toJson, toObject } from '../data.ts';
import type { Members } from './members.ts';

/** A failed effect may be tried again; each try is a claim of its own. */
const TRIES_MAX = 100;
const EFFECT_TYPE_MAX = 256;
const KEY_MAX = 4_096;
const FAILURE_MAX = 512;

/** Where the effects of a node are recorded. */
type Scope = Pick<Effect, 'tenant' | 'runId' | 'nodeId' | 'ordinal'>;
type Effect = Parameters<InvocationLog['claim']>[0];
type Settled = Parameters<InvocationLog['settle']>[2];

export function sideEffects(log: InvocationLog, scope: Scope): Members {
  /** An execution may settle only the effects that it claimed. */
  const claimed = new Set<string>();

  async function tryAcquire(request: Data): Promise<JsonObject> {
    const key = keyOf(toObject(request));
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const claim = await log.claim({ ...scope, providerKey: `side-effects\0${key}\0${attempt}` });
      const { invocationId: effectId } = claim;
      if (claim.kind === 'claimed') {
        claimed.add(effectId);
        return { state: 'acquired', effectId };
      }
      if (claim.kind === 'underWay') return { state: 'in-flight', effectId };
      if (claim.outcome.ok)
        return { state: 'duplicate', effectId, previousResult: claim.outcome.outputs.result ?? null };
    }
    throw new OpenwopError('effect_in_doubt', { message: `The side effect failed ${TRIES_MAX} times.` });
  }

  async function settle(effectId: Data, outcome: Settled): Promise<null> {
    const id = toJson(effectId);
    if (typeof id !== 'string' || !claimed.has(id))
      throw new OpenwopError('not_found', { message: 'This effect was not acquired here.' });
    await log.settle(scope.tenant, id, outcome);
    return null;
  }

  return {
    table: {
      'sideEffects.tryAcquire': 'sync',
      'sideEffects.markCompleted': 'sync',
      'sideEffects.markFailed': 'sync',
    },
    call: async (method, [first = null, second = null]) => {
      switch (method) {
        case 'sideEffects.tryAcquire':
          return tryAcquire(first);
        case 'sideEffects.markCompleted':
          return settle(first, { ok: true, outputs: { result: toJson(second) } });
        case 'sideEffects.markFailed':
          return settle(first, failedWith(second));
        default:
          throw new OpenwopError('capability_not_provided', { message: `There is no ctx.${method}.` });
      }
    },
  };
}

function failedWith(message: Data): Settled {
  const text = typeof message === 'string' ? message.slice(0, FAILURE_MAX) : 'The effect failed.';
  return { ok: false, retryable: true, error: { code: 'side_effect_failed', message: text } };
}

/** Hashes the whole pair: otherwise two effects could get the same key, and the second would never happen. */
function keyOf({ idempotencyKey = '', effectType = 'effect' }: JsonObject): string {
  const pair = [
    text('effectType', effectType, EFFECT_TYPE_MAX),
    text('idempotencyKey', idempotencyKey, KEY_MAX),
  ];
  return hash('sha256', JSON.stringify(pair), 'base64url');
}

function text(field: string, value: Json, lengthMax: number): string {
  if (typeof value === 'string' && value.length <= lengthMax) return value;
  throw invalid(`ctx.sideEffects.tryAcquire: ${field} must be a text of at most ${lengthMax} characters.`, {
    field,
  });
}
