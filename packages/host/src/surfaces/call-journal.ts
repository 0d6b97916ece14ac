/** Calls to backends that keep no journal of their own are claimed and recorded in the log of the runtime. */
import type { EffectOutcome } from '@gantry/engine';
import { ERRORS, type ErrorCode, OpenwopError } from '@gantry/protocol';
import type { CallJournal, CallRecord } from '@gantry/surfaces';
import type { InvocationLog } from '../runtime/invocation-log.ts';

type Recorded = { readonly ok: true; readonly outputs: { readonly record: CallRecord } };

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

export const callJournal = (log: InvocationLog): CallJournal => ({
  async perform(call, act) {
    const outcome: Recorded | EffectOutcome = await log.perform<Recorded>(call, async () => ({
      ok: true,
      outputs: { record: await act() },
    }));
    if (outcome.ok) return (outcome as Recorded).outputs.record;
    const { code, message, details } = outcome.error;
    if (!isErrorCode(code)) throw new Error(`${code} is not in the catalogue`);
    throw new OpenwopError(code, { message, ...(details && { details }) });
  },
});
