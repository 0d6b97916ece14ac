import type { JsonObject } from '@gantry/protocol';
import type { Command } from '../command.ts';
import { emit, type Step } from '../step.ts';

export function pause(step: Step, command: Extract<Command, { type: 'pause' }>): void {
  if (step.run.status !== 'running') return;
  const payload: JsonObject = { drainPolicy: command.drainPolicy };
  if (command.reason !== undefined) payload.reason = command.reason;
  emit(step, 'run.paused', payload);
}
