import type { RunEvent } from '@gantry/protocol';
import { textAt } from '../payload.ts';
import type { Answer, Interrupt } from './interrupt.ts';

/** The answer that an `interrupt.resolved` recorded, for whoever repeats a log. */
export function recordedAnswer(interrupt: Interrupt, { payload, sealed }: RunEvent): Answer {
  const rejected =
    payload.outcome === 'rejected' ? (payload.reason === 'timeout' ? 'timeout' : 'reject') : undefined;
  const value = sealed?.resumeValue ?? payload.resumeValue ?? null;
  return { interrupt, value, by: textAt(payload, 'resolvedBy'), ...(rejected && { rejected }) };
}
