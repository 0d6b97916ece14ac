/** Removes secrets from facts and events before they are folded, so that later decisions see the same as the log. */
import type { Json, RunEvent } from '@gantry/protocol';
import type { RunFacts } from './run.ts';

/** Returns the same value when it contains no secret. */
export type Redact = <T extends Json>(value: T) => T;

export function redactEvent(event: RunEvent, redact: Redact | undefined): RunEvent {
  if (!redact) return event;
  const payload = redact(event.payload);
  const sealed = event.sealed && redact(event.sealed);
  if (payload === event.payload && sealed === event.sealed) return event;
  // The node id is chosen by the author. Without it the event could not be folded, and the run would hang.
  const { nodeId } = event.payload;
  return {
    ...event,
    payload: nodeId === undefined ? payload : { ...payload, nodeId },
    ...(sealed && { sealed }),
  };
}

/** Redacts the data of callers. The other facts are names and numbers of the host. */
export function redactFacts<Facts extends RunFacts>(facts: Facts, redact: Redact | undefined): Facts {
  if (!redact) return facts;
  const { inputs, configurable, metadata, tags, triggerData } = facts;
  return {
    ...facts,
    inputs: redact(inputs),
    configurable: redact(configurable),
    metadata: redact(metadata),
    tags: redact([...tags]),
    ...(triggerData && { triggerData: redact(triggerData) }),
  };
}
