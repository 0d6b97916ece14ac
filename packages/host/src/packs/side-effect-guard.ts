/** `ctx.sideEffects`: pack code claims an effect before it acts, and says how it ended. */
import { hash } from 'node:crypto';
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Data } from '@gantry/sandbox';
import type { InvocationLog } from '../runtime/invocation-log.ts';
import { toJson, toObject } from './data.ts';

/** A failed effect may be tried again; each try is a claim of its own. */
const TRIES_MAX = 100;
const EFFECT_TYPE_MAX = 256;
const KEY_MAX = 4_096;
const FAILURE_MAX = 512;

export interface GuardScope {
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly ordinalBase: number;
}

export class SideEffectGuard {
  readonly #log: InvocationLog;
  readonly #scope: GuardScope;
  /** Only what this execution claimed may it settle. */
  readonly #claimed = new Set<string>();

  constructor(log: InvocationLog, scope: GuardScope) {
    this.#log = log;
    this.#scope = scope;
  }

  async tryAcquire(request: Data): Promise<JsonObject> {
    const key = keyOf(toObject(request));
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const effect = {
        tenant: this.#scope.tenant,
        runId: this.#scope.runId,
        nodeId: this.#scope.nodeId,
        ordinal: this.#scope.ordinalBase,
        providerKey: `side-effects\0${key}\0${attempt}`,
      };
      const claim = await this.#log.claim(effect);
      const { invocationId: effectId } = claim;
      if (claim.kind === 'claimed') {
        this.#claimed.add(effectId);
        return { state: 'acquired', effectId };
      }
      if (claim.kind === 'underWay') return { state: 'in-flight', effectId };
      if (claim.outcome.ok)
        return { state: 'duplicate', effectId, previousResult: claim.outcome.outputs.result ?? null };
    }
    throw new OpenwopError('effect_in_doubt', { message: `The effect failed ${TRIES_MAX} times.` });
  }

  async markCompleted(effectId: Data, result: Data): Promise<null> {
    return this.#settle(effectId, {
      ok: true,
      outputs: { result: result === undefined ? null : toJson(result) },
    });
  }

  async markFailed(effectId: Data, message: Data): Promise<null> {
    const text = typeof message === 'string' ? message.slice(0, FAILURE_MAX) : 'The effect failed.';
    const error = { code: 'side_effect_failed', message: text };
    return this.#settle(effectId, { ok: false, retryable: true, error });
  }

  async #settle(effectId: Data, outcome: Parameters<InvocationLog['settle']>[2]): Promise<null> {
    const id: Json = toJson(effectId);
    if (typeof id !== 'string' || !this.#claimed.has(id))
      throw new OpenwopError('not_found', { message: 'This effect was not acquired here.' });
    await this.#log.settle(this.#scope.tenant, id, outcome);
    return null;
  }
}

/** Of the whole pair: whatever is left out would make two effects one, and the second would never happen. */
function keyOf({ idempotencyKey = '', effectType = 'effect' }: JsonObject): string {
  const pair = [
    text('effectType', effectType, EFFECT_TYPE_MAX),
    text('idempotencyKey', idempotencyKey, KEY_MAX),
  ];
  return hash('sha256', JSON.stringify(pair), 'base64url');
}

function text(field: string, value: Json, lengthMax: number): string {
  if (typeof value === 'string' && value.length <= lengthMax) return value;
  throw new OpenwopError('validation_error', {
    message: `ctx.sideEffects.tryAcquire: ${field} must be a text of at most ${lengthMax} characters.`,
    details: { field },
  });
}
