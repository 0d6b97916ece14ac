import { OpenwopError } from '@gantry/protocol';
import type { SideEffectGuard } from '../side-effect-guard.ts';
import type { Members } from './members.ts';

/** `ctx.sideEffects` over a guard. */
export const sideEffects = (guard: SideEffectGuard): Members => ({
  table: {
    'sideEffects.tryAcquire': 'sync',
    'sideEffects.markCompleted': 'sync',
    'sideEffects.markFailed': 'sync',
  },
  call: async (method, [first = null, second = null]) => {
    switch (method) {
      case 'sideEffects.tryAcquire':
        return guard.tryAcquire(first);
      case 'sideEffects.markCompleted':
        return guard.markCompleted(first, second);
      case 'sideEffects.markFailed':
        return guard.markFailed(first, second);
      default:
        throw new OpenwopError('capability_not_provided', { message: `There is no ctx.${method}.` });
    }
  },
});
