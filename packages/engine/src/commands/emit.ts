import type { Command } from '../command.ts';
import { tell } from '../nodes/pack-events.ts';
import type { Step } from '../step.ts';
import { nodeUnderWay } from './settle.ts';

export function emitFrom(step: Step, command: Extract<Command, { type: 'emit' }>): void {
  const node = nodeUnderWay(step, command);
  if (node) tell(step, node, command.events);
}
