/** Calls to backends without a journal are claimed and recorded in the log of the runtime. */
import type { EffectOutcome } from '@gantry/engine';
import { isErrorCode, OpenwopError } from '@gantry/protocol';
import type { CallJournal, JournaledCall, ReadsKey, SeenRead } from '@gantry/surfaces';
import type { InvocationLog } from '../runtime/invocation-log.ts';
import type { Recorded, ToolCaller, ToolCalls } from '../tools/tool-calls.ts';

type Seen = { readonly ok: true; readonly outputs: { readonly reads: SeenRead[] } };

const doubtOf = ({ method, nodeId, tool }: JournaledCall): string =>
  `The host stopped after node "${nodeId}" had called ${method} and before its answer was on record, and ` +
  `${tool ? 'a repeat might do it twice' : 'what keeps the data remembers no calls'}. ` +
  'Check there whether it was done, then fork or start a new run.';

const positionOf = ({ tenant, runId, nodeId, ordinalBase, batch }: ReadsKey) => ({
  tenant,
  runId,
  nodeId,
  ordinal: ordinalBase,
  providerKey: `reads\0${batch}`,
});

export interface CallListeners {
  /** Called when a new call was recorded. */
  readonly recorded?: () => void;
  /** Writes to the log of the run. */
  readonly warn?: (message: string) => void;
}

export interface CallJournalOptions extends CallListeners {
  /** Tool calls of the node; without it they are handled like other calls. */
  readonly tools?: Pick<ToolCalls, 'perform'>;
  readonly caller?: Omit<ToolCaller, 'log'>;
}

export function callJournal(log: InvocationLog, options: CallJournalOptions = {}): CallJournal {
  const {
    recorded = () => {},
    warn = () => {},
    tools,
    caller = { principal: undefined, tell: undefined },
  } = options;
  const performed = (call: JournaledCall, act: Act): Promise<Recorded | EffectOutcome> => {
    const { tool } = call;
    if (tool && tools) return tools.perform({ log, ...caller }, { ...call, tool }, act);
    return log.perform<Recorded>(call, async () => ({ ok: true, outputs: { record: await act() } }));
  };
  return {
    async perform(call, act) {
      let isNew = false;
      const outcome = await performed(call, (admit) => {
        isNew = true;
        return act(admit);
      });
      if (isNew) recorded();
      if (outcome.ok) return (outcome as Recorded).outputs.record;
      const { code, message, details } = outcome.error;
      if (code === 'effect_in_doubt') throw new OpenwopError(code, { message: doubtOf(call) });
      if (!isErrorCode(code)) throw new Error(`${code} is not in the catalogue`);
      throw new OpenwopError(code, { message, ...(details && { details }) });
    },
    isKnown: (call) => log.isKnown(call),
    async recall(key) {
      return (await log.outcomeOf<Seen>(positionOf(key)))?.outputs.reads ?? null;
    },
    keep: (key, reads) => log.put<Seen>(positionOf(key), { ok: true, outputs: { reads: [...reads] } }),
    recorded,
    warn,
  };
}

type Act = Parameters<CallJournal['perform']>[1];
