/** The checks before a tool call: the required scopes, and the permitted number of calls. */
import { hash } from 'node:crypto';
import { type EmittedEvent, OpenwopError } from '@gantry/protocol';
import type { CommitGroup, Store } from '@gantry/store';
import type { CalledTool, CallingRun, CallRecord } from '@gantry/surfaces';
import { countingOne, runCounter } from '../ai/ledger.ts';
import type { ScopesOf } from '../principals.ts';
import { takeToken, untilTokenMs } from '../runtime/token-bucket.ts';

export interface GatedCall {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly tool: CalledTool;
  /** Absent outside of a run. */
  readonly run?: CallingRun | undefined;
}

/** A check of tool calls. A budget is one of them: it reserves with the claim and settles with the record. */
export interface ToolHook {
  /** Throws an `OpenwopError` to refuse the call. */
  admit?(call: GatedCall): Promise<void> | void;
  /** Part of the commit of the claim: the call is made only if all of it is written. */
  reserve?(call: GatedCall): CommitGroup;
  /** Emitted with the record of a call that was made. */
  told?(call: GatedCall): Promise<readonly EmittedEvent[]>;
  /** The reason for the refusal if one of these writes lost. Throws if the node has to stop without a record. */
  full?(call: GatedCall): Promise<OpenwopError> | OpenwopError;
  /** Part of the commit of the record of a call that this process reserved. These writes must not be able to lose. */
  settle?(call: GatedCall, record: CallRecord): CommitGroup;
}

/** Refuses an unknown principal, and one that lacks a scope. */
export const scopeGate = (scopesOf: ScopesOf): ToolHook => ({
  async admit({ tenant, principal, tool }) {
    const { name: toolName, requiredScopes = [] } = tool;
    if (requiredScopes.length === 0) return;
    const scopes = principal === undefined ? null : await scopesOf(tenant, principal);
    if (scopes && requiredScopes.every((scope) => scopes.includes(scope))) return;
    throw new OpenwopError('forbidden', {
      message: `The principal of this run may not call ${toolName}. Start the run with a key that has its scopes.`,
      details: { scope: 'tool', toolName, requiredScopes: [...requiredScopes] },
    });
  },
});

export const TOOL_RATE = 'tool-rate';

/** A token bucket for each principal and tool, with a burst of `perMinute`. */
export function rateGate(
  perMinute: number,
  { entries }: Pick<Store, 'entries'>,
  now: () => number,
): ToolHook {
  const limit = { requests: perMinute, perSeconds: 60 };
  const keyOf = ({ tenant, principal = '', tool }: GatedCall) => ({
    kind: TOOL_RATE,
    tenant,
    id: hash('sha256', `${tool.name}\0${principal}`, 'base64url'),
  });
  return {
    reserve: (call) => [takeToken(limit, keyOf(call), now())],
    async full(call) {
      const { name: toolName } = call.tool;
      const waitMs = untilTokenMs(limit, await entries.counter(keyOf(call)), now());
      const retryAfterSeconds = Math.ceil(waitMs / 1_000);
      return new OpenwopError('rate_limited', {
        message: `${toolName} was called more than ${perMinute} times a minute. Try again after ${retryAfterSeconds} s.`,
        details: { scope: 'tool', toolName, retryAfterSeconds },
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    },
  };
}

const DIMENSION = 'toolCalls';

const limitOf = ({ run }: GatedCall): number | undefined => run?.budget()?.limits[DIMENSION];

/** `maxToolCalls`: tool calls of a run and all its descendants, counted with their claims. */
export const budgetGate = ({ entries }: Pick<Store, 'entries'>, now: () => number): ToolHook => ({
  reserve(call) {
    const { tenant, run } = call;
    const limit = limitOf(call);
    if (!run || limit === undefined) return [];
    const counted = { tenant, root: run.rootRunId, at: now() };
    return [countingOne(counted, DIMENSION, run.budget()?.advisory ? undefined : limit)];
  },
  async told(call) {
    const { tenant, run } = call;
    const limit = limitOf(call);
    if (!run || limit === undefined) return [];
    // Do not fail the record of the call because its event cannot be made
    const consumed = await entries.counter(runCounter(tenant, run.rootRunId, DIMENSION)).catch(() => null);
    if (consumed === null) return [];
    const payload = { dimension: DIMENSION, consumed, limit, remaining: Math.max(0, limit - consumed) };
    return [{ type: 'budget.consumed', payload }];
  },
  /** Pack code gets the error but cannot handle it: the run ends, or waits for a person. */
  full(call) {
    const limit = limitOf(call) ?? 0;
    call.run?.exhausted({ dimension: DIMENSION, limit, observed: limit + 1 });
    throw new OpenwopError('budget_exhausted');
  },
});
