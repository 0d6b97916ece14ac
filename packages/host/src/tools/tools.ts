/** The tool calls of this host, with its checks. */
import type { Store } from '@gantry/store';
import { keyScopes } from '../principals.ts';
import type { Settings } from '../settings.ts';
import { budgetGate, rateGate, scopeGate } from './gates.ts';
import { ToolCalls, type ToolCallsOptions } from './tool-calls.ts';
import { ruleOf } from './tool-rules.ts';

export interface ToolsOptions extends Pick<ToolCallsOptions, 'redactions'> {
  readonly store: Pick<Store, 'records' | 'entries'>;
  readonly settings: Pick<Settings, 'toolCallsPerMinute' | 'toolRules'>;
  readonly now: () => number;
}

export const createToolCalls = ({ store, settings, redactions, now }: ToolsOptions): ToolCalls =>
  new ToolCalls({
    hooks: [
      scopeGate(keyScopes(store, now)),
      rateGate(settings.toolCallsPerMinute, store, now),
      budgetGate(store, now),
    ],
    ruleOf: ruleOf(settings.toolRules),
    redactions,
    now,
  });
