/** Secrets are taken out of facts and events before they are folded: what is decided next sees what the log says. */
import type { Json, RunEvent } from '@gantry/protocol';
import type { RunFacts } from './run.ts';

/** Gives back the same value when there is no secret in it. */
export type Redact = <T extends Json>(value: T) => T;

export function redactEvent(event: RunEvent, redact: Redact | undefined): RunEvent {
  if (!redact) return event;
  const payload = redact(event.payload);
  const sealed = event.sealed && redact(event.sealed);
  if (payload === event.payload && sealed === event.sealed) return event;
  // The node's name is the author's. Without it the event could not be folded, and the run would stand still.
  const { nodeId } = event.payload;
  return {
    ...event,
    payload: nodeId === undefined ? payload : { ...payload, nodeId },
    ...(sealed && { sealed }),
  };
}

/** What callers gave. The rest are names and figures of the host. */
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
