/** Calls of tools, as this host admits them. */
import type { Store } from '@gantry/store';
import type { Settings } from '../settings.ts';
import { keyScopes, rateGate, scopeGate } from './gates.ts';
import type { ToolHook } from './hook.ts';
import { ToolCalls, type ToolCallsOptions } from './tool-calls.ts';
import { ruleOf } from './tool-rules.ts';

export interface ToolsOptions extends Pick<ToolCallsOptions, 'redactions'> {
  readonly store: Pick<Store, 'records' | 'entries'>;
  readonly settings: Pick<Settings, 'toolCallsPerMinute' | 'toolRules'>;
  /** Lets everything pass when absent. */
  readonly budget?: ToolHook;
  readonly now: () => number;
}

export const createToolCalls = ({ store, settings, budget, redactions, now }: ToolsOptions): ToolCalls =>
  new ToolCalls({
    hooks: [
      scopeGate(keyScopes(store, now)),
      rateGate(settings.toolCallsPerMinute, store, now),
      ...(budget ? [budget] : []),
    ],
    ruleOf: ruleOf(settings.toolRules),
    redactions,
    now,
  });
