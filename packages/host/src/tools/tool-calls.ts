/**
 * Every call of a tool, whatever its transport: admitted, claimed, done and recorded, with its pair of events.
 *
 * I1  `agent.toolCalled` is in the commit of the claim, `agent.toolReturned` in that of the record.
 * I2  A call that a gate refuses has its pair and its record too, so a repeat of it is not judged again.
 */
import type { EffectOutcome, EmittedEvent } from '@gantry/engine';
import { ERRORS, type ErrorCode } from '@gantry/protocol';
import type { NodeCaller } from '@gantry/resources';
import type { CalledTool, CallRecord, JournaledCall } from '@gantry/surfaces';
import type { Redactions } from '../redaction/redactions.ts';
import { type InvocationLog, logicalInvocationId } from '../runtime/invocation-log.ts';
import { argsHashOf, type ToldCall, type ToolEnding, toolCalled, toolReturned } from './tool-events.ts';

export type Recorded = {
  readonly ok: true;
  readonly outputs: { readonly record: CallRecord; readonly durationMs?: number };
};

export interface GatedCall {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly tool: CalledTool;
}

/** Throws an `OpenwopError` to refuse a call before anything happens. A budget is one more of them. */
export type ToolGate = (call: GatedCall) => Promise<void> | void;

export interface ToolCallsOptions {
  /** In this order. */
  readonly gates: readonly ToolGate[];
  readonly redactions: Pick<Redactions, 'of'>;
  readonly now: () => number;
}

/** A node at work. */
export interface ToolCaller {
  readonly log: InvocationLog;
  readonly principal: string | undefined;
  /** None outside of a run: nothing is told. */
  readonly tell: NodeCaller['tell'] | undefined;
}

type ToolCall = JournaledCall & { readonly tool: CalledTool };

export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  perform(
    { log, principal, tell }: ToolCaller,
    call: ToolCall,
    act: (admit: () => Promise<void>) => Promise<CallRecord>,
  ): Promise<Recorded | EffectOutcome> {
    const { now } = this.#options;
    const { tenant, tool } = call;
    const admit = async (): Promise<void> => {
      for (const gate of this.#options.gates) await gate({ tenant, principal, tool });
    };
    const done = async (): Promise<Recorded> => {
      const startedAt = now();
      const record = await act(admit);
      return { ok: true, outputs: { record, durationMs: Math.max(0, Math.round(now() - startedAt)) } };
    };
    if (!tell) return log.perform<Recorded>(call, done);
    const callId = logicalInvocationId(call);
    const told: ToldCall = { callId, tool, argsHash: this.#argsHash(call), principal };
    return log.perform<Recorded>(call, done, {
      tell,
      called: toolCalled(told),
      returned: (outcome) => {
        const ended = outcome as Recorded | EffectOutcome;
        return [...decisionsOf(ended), toolReturned(told, endingOf(ended)), ...expiryOf(ended)];
      },
    });
  }

  #argsHash({ tenant, tool }: ToolCall): string {
    const redactor = this.#options.redactions.of(tenant);
    return argsHashOf(tool.args(redactor.isEmpty ? (text) => text : (text) => redactor.redact(text)));
  }
}

function endingOf(outcome: Recorded | EffectOutcome): ToolEnding {
  if (!outcome.ok) return { ok: false, code: codeOf(outcome.error.code) };
  const { record, durationMs = 0 } = (outcome as Recorded).outputs;
  return record.ok ? { ok: true, durationMs } : { ok: false, code: record.error.code, durationMs };
}

const decisionsOf = (outcome: Recorded | EffectOutcome): EmittedEvent[] => {
  const { decided = [] } = (outcome.ok && (outcome as Recorded).outputs.record.tool) || {};
  return decided.map((payload) => ({ type: 'egress.decided', payload }));
};

/** A connection that the call was to use has to be authorized again. */
const expiryOf = (outcome: Recorded | EffectOutcome): EmittedEvent[] => {
  const record = outcome.ok ? (outcome as Recorded).outputs.record : null;
  if (!record || record.ok || record.error.code !== 'connector_auth_expired') return [];
  return [{ type: 'connector.auth_expired', payload: record.error.details ?? {} }];
};

const codeOf = (code: string): ErrorCode =>
  Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal_error';
