/** Calls of tools, as this host admits them. */
import type { Store } from '@gantry/store';
import type { Settings } from '../settings.ts';
import { keyScopes, RateGate, scopeGate } from './gates.ts';
import { ToolCalls, type ToolCallsOptions } from './tool-calls.ts';

export interface ToolsOptions extends Pick<ToolCallsOptions, 'redactions'> {
  readonly store: Pick<Store, 'records'>;
  readonly settings: Pick<Settings, 'toolCallsPerMinute'>;
  readonly now: () => number;
}

export const createToolCalls = ({ store, settings, redactions, now }: ToolsOptions): ToolCalls =>
  new ToolCalls({
    gates: [scopeGate(keyScopes(store, now)), new RateGate(settings.toolCallsPerMinute, now).gate],
    redactions,
    now,
  });
