/**
 * Surfaces for readers that request deltas: the first of a node is sent in full, later ones as an RFC 6902
 * patch. The log stores all of them in full.
 */
import { A2UI_KIND, patchBetween } from '@gantry/ai';
import type { JsonObject, StoredEvent } from '@gantry/protocol';

/** The number of surfaces that are remembered per reader. The oldest one is dropped, and sent in full next time. */
const SURFACES_MAX = 50;

export type Delta = (event: StoredEvent) => StoredEvent;

/** Converts the events of one reader, in order. */
export function surfaceDeltas(runId: string): Delta {
  const shown = new Map<string, JsonObject>();
  return (event) => {
    const logged = loggedSurface(event);
    if (!logged) return event;
    const { data } = logged;
    const surface = data.payload as JsonObject;
    const { catalogVersion = null } = surface;
    const surfaceRef = `${runId}:${event.nodeId}`;
    const before = shown.get(surfaceRef);
    shown.delete(surfaceRef);
    shown.set(surfaceRef, surface);
    const [oldest] = shown.keys();
    if (shown.size > SURFACES_MAX && oldest !== undefined) shown.delete(oldest);
    const patch = before?.catalogVersion === catalogVersion ? patchBetween(before, surface) : [];
    const payload =
      patch.length === 0
        ? surface
        : { surfaceRef, catalogVersion, patch: patch.map((step): JsonObject => ({ ...step })) };
    return { ...event, payload: JSON.stringify({ ...logged, data: { ...data, surfaceRef, payload } }) };
  };
}

/** Null for other events, and for surfaces that are too large for the log. */
function loggedSurface({ type, payload }: StoredEvent): (JsonObject & { data: JsonObject }) | null {
  if (type !== 'log.appended' || !payload.includes(A2UI_KIND)) return null;
  const logged = JSON.parse(payload);
  const { type: kind, payload: surface } = Object(logged.data);
  return kind === A2UI_KIND && Object(surface).surface !== undefined ? logged : null;
}
