import type { Json, JsonObject } from '@gantry/protocol';
import type { Command } from '../command.ts';
import { deepEqual, isObject, own } from '../json.ts';
import type { PlanNode } from '../plan.ts';
import type { Refusal, Step } from '../step.ts';
import { close } from './close.ts';
import type { Interrupt } from './interrupt.ts';
import { invalid } from './refusal.ts';

/** Every key of the correlation must come back with its value; what else the event brings is its own. */
export function answerExternalEvent(
  step: Step,
  node: PlanNode,
  interrupt: Interrupt,
  { by, resumeValue }: Extract<Command, { type: 'resolve' }>,
): Refusal | undefined {
  if (!isObject(resumeValue)) return invalid('', 'an event must be an object.');
  const correlation = isObject(interrupt.data.correlation) ? interrupt.data.correlation : {};
  const missed = Object.keys(correlation).find(
    (key) => !deepEqual(correlation[key], fieldOf(resumeValue, key)),
  );
  if (missed !== undefined)
    return {
      code: 'correlation_mismatch',
      message: 'The event does not belong to this question, which still waits.',
      details: { path: `/resumeValue/${missed}` },
    };
  close(step, node, { interrupt, value: resumeValue, by: by.principal });
  return;
}

/** Senders put what correlates beside the payload, inside it, or under its own name. */
function fieldOf(value: JsonObject, key: string): Json | undefined {
  for (const place of [value, value.correlation, value.eventPayload]) {
    const found = isObject(place) ? own(place, key) : undefined;
    if (found !== undefined) return found;
  }
  return;
}
