import type { JsonObject } from '@gantry/protocol';
import { isTerminal } from '@gantry/protocol';
import type { Command } from '../command.ts';
import { cancelActive } from '../run-end.ts';
import { durationOf, emit, type Step } from '../step.ts';

export function cancel(step: Step, command: Extract<Command, { type: 'cancel' }>): void {
  if (isTerminal(step.run.status)) return;
  cancelActive(step, step.plan.order, 'run-cancelled');
  const payload: JsonObject = {};
  if (command.reason !== undefined) payload.reason = command.reason;
  if (command.by !== undefined) payload.cancelledBy = command.by;
  if (command.parentRunId !== undefined) payload.parentRunId = command.parentRunId;
  payload.durationMs = durationOf(step);
  emit(step, 'run.cancelled', payload);
}
