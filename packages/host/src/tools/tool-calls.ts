/**
 * Every tool call, for any transport: admitted, approved, claimed, made and recorded, with its two events.
 *
 * I1  `agent.toolCalled` is in the commit of the claim, `agent.toolReturned` in that of the record.
 * I2  A refused call has both events and a record too, so a repeat of it is not checked again.
 * I3  A call that needs an approval is not claimed before the answer.
 */
import type { EffectOutcome, EmittedEvent } from '@gantry/engine';
import { ERRORS, type ErrorCode, OpenwopError } from '@gantry/protocol';
import type { NodeCaller } from '@gantry/resources';
import type { CalledTool, CallingRun, CallRecord, JournaledCall, Redact } from '@gantry/surfaces';
import type { Redactions } from '../redaction/redactions.ts';
import {
  type Beside,
  type EffectCosts,
  type InvocationLog,
  logicalInvocationId,
} from '../runtime/invocation-log.ts';
import type { Approve } from './approval.ts';
import type { GatedCall, ToolHook } from './gates.ts';
import {
  argsHashOf,
  forbiddenAtLoad,
  type ToldCall,
  type ToolEnding,
  toolCalled,
  toolReturned,
} from './tool-events.ts';
import type { RuleOf } from './tool-rules.ts';

export type Recorded = {
  readonly ok: true;
  readonly outputs: { readonly record: CallRecord; readonly durationMs?: number };
};

export interface ToolCallsOptions {
  /** Called in this order. */
  readonly hooks: readonly ToolHook[];
  readonly ruleOf: RuleOf;
  readonly redactions: Pick<Redactions, 'of'>;
  readonly now: () => number;
}

/** A running node. */
export interface ToolCaller {
  readonly log: InvocationLog;
  readonly principal: string | undefined;
  readonly run?: CallingRun | undefined;
  /** Absent outside of a run: no events are emitted. */
  readonly tell: NodeCaller['tell'] | undefined;
  /** Absent if no person can be asked: calls that need approval are refused. */
  readonly approve?: Approve | undefined;
}

type ToolCall = JournaledCall & { readonly tool: CalledTool };

/** The node whose tools are loaded. */
export type LoadPlace = Pick<JournaledCall, 'tenant' | 'runId' | 'nodeId' | 'ordinal'>;

export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /** Reports once which of the tools are forbidden. No call has been made yet, so the event has no call. */
  async load({ log, tell }: ToolCaller, place: LoadPlace, tools: readonly string[]): Promise<void> {
    if (!tell) return;
    for (const tool of tools) {
      if (this.#options.ruleOf(place.tenant, tool) !== 'forbid') continue;
      const effect = { ...place, providerKey: `load\0${tool}`, idempotent: true };
      const events = { tell, returned: () => [forbiddenAtLoad(tool)] };
      await log.perform(effect, async () => ({ ok: true, outputs: {} }), { events });
    }
  }

  async perform(
    caller: ToolCaller,
    call: ToolCall,
    act: (admit: () => Promise<void>) => Promise<CallRecord>,
  ): Promise<Recorded | EffectOutcome> {
    const { log, principal, run, tell } = caller;
    const { now, hooks } = this.#options;
    const { tenant, tool } = call;
    const spent: EmittedEvent[] = [];
    const gated = { tenant, principal, tool, run };
    const argsHash = this.#argsHash(call);
    let refusal = await this.#refusalOf(caller, call, argsHash);
    const admit = async (): Promise<void> => {
      if (refusal) throw refusal;
    };
    const done = async (): Promise<Recorded> => {
      const startedAt = now();
      const record = await act(admit);
      if (!refusal) for (const { told } of hooks) spent.push(...((await told?.(gated)) ?? []));
      return { ok: true, outputs: { record, durationMs: Math.max(0, Math.round(now() - startedAt)) } };
    };
    const costs = refusal
      ? undefined
      : this.#costs(gated, (lost) => {
          refusal = lost;
        });
    const told: ToldCall = { callId: logicalInvocationId(call), tool, argsHash, principal };
    return log.perform<Recorded>(call, done, { costs, events: tell && eventsOf(told, tell, spent) });
  }

  /** Ignored for a recorded call: the record answers it. */
  async #refusalOf(caller: ToolCaller, call: ToolCall, argsHash: string): Promise<OpenwopError | undefined> {
    const { tenant, tool } = call;
    const { hooks, ruleOf } = this.#options;
    try {
      const rule = ruleOf(tenant, tool.name);
      if (rule === 'forbid') throw forbidden(tool.name, 'The operator of this host does not allow it.');
      for (const { admit } of hooks) await admit?.({ tenant, principal: caller.principal, tool });
      if (rule === 'approve' || (rule === 'approve-writes' && !call.idempotent))
        await this.#approval(caller, call, argsHash);
      return undefined;
    } catch (error) {
      if (error instanceof OpenwopError && error.code !== 'approval_pending') return error;
      throw error;
    }
  }

  /** I3. */
  async #approval({ log, approve }: ToolCaller, call: ToolCall, argsHash: string): Promise<void> {
    const { tool, ordinal, providerKey } = call;
    if (!approve)
      throw forbidden(tool.name, 'A person has to approve it, and this call cannot wait for an approval.');
    if (await log.isKnown(call)) return;
    const [series = ''] = providerKey.split('\0');
    approve({
      tool: tool.name,
      place: `${series}:${ordinal}`,
      argsHash,
      shown: tool.shown(this.#redact(call)),
    });
  }

  #costs(call: GatedCall, refused: (error: OpenwopError) => void): EffectCosts | undefined {
    const { hooks } = this.#options;
    const reserved = hooks.flatMap((hook) => (hook.reserve?.(call) ?? []).map((write) => ({ hook, write })));
    if (reserved.length === 0) return undefined;
    return {
      claim: reserved.map(({ write }) => write),
      lost: async ({ write }) =>
        refused((await reserved[write]?.hook.full?.(call)) ?? new OpenwopError('rate_limited')),
      settle: (outcome) => {
        const ended = outcome as Recorded | EffectOutcome;
        if (!ended.ok) return [];
        const { record } = (ended as Recorded).outputs;
        return this.#options.hooks.flatMap((hook) => hook.settle?.(call, record) ?? []);
      },
    };
  }

  #redact({ tenant }: ToolCall): Redact {
    const redactor = this.#options.redactions.of(tenant);
    return redactor.isEmpty ? (text) => text : (text) => redactor.redact(text);
  }

  #argsHash(call: ToolCall): string {
    return argsHashOf(call.tool.args(this.#redact(call)));
  }
}

const forbidden = (toolName: string, why: string): OpenwopError =>
  new OpenwopError('forbidden', {
    message: `${toolName} may not be called here. ${why}`,
    details: { scope: 'tool', toolName },
  });

const eventsOf = (
  told: ToldCall,
  tell: NodeCaller['tell'],
  spent: readonly EmittedEvent[],
): Beside['events'] => ({
  tell,
  called: toolCalled(told),
  returned: (outcome) => {
    const ended = outcome as Recorded | EffectOutcome;
    return [...decisionsOf(ended), toolReturned(told, endingOf(ended)), ...expiryOf(ended), ...spent];
  },
});

function endingOf(outcome: Recorded | EffectOutcome): ToolEnding {
  if (!outcome.ok) return { ok: false, code: codeOf(outcome.error.code) };
  const { record, durationMs = 0 } = (outcome as Recorded).outputs;
  return record.ok ? { ok: true, durationMs } : { ok: false, code: record.error.code, durationMs };
}

const decisionsOf = (outcome: Recorded | EffectOutcome): EmittedEvent[] => {
  const { decided = [] } = (outcome.ok && (outcome as Recorded).outputs.record.tool) || {};
  return decided.map((payload) => ({ type: 'egress.decided', payload }));
};

/** The connection of the call must be authorized again. */
const expiryOf = (outcome: Recorded | EffectOutcome): EmittedEvent[] => {
  const record = outcome.ok ? (outcome as Recorded).outputs.record : null;
  if (!record || record.ok || record.error.code !== 'connector_auth_expired') return [];
  return [{ type: 'connector.auth_expired', payload: record.error.details ?? {} }];
};

const codeOf = (code: string): ErrorCode =>
  Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal_error';
