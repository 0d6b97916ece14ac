import { eventId, type JsonObject, type RunEvent } from '@gantry/protocol';
import type { ForkIds } from './rebase.ts';
import { isWellFormed } from './recording.ts';

/** Payload of `replay.diverged`: where the replay parted from its source, and how. */
export function divergence(
  { sourceRunId }: ForkIds,
  atSequence: number,
  original: RunEvent | undefined,
  replayed: RunEvent | undefined,
): JsonObject {
  if (!original)
    return { sourceRunId, atSequence, divergenceKind: 'extra', divergencePoint: replayed?.type ?? '' };
  const type = isWellFormed(original) ? original.type : 'unknown';
  const changed = replayed?.type === type ? 'output' : 'type-mismatch';
  return {
    sourceRunId,
    atSequence,
    originalEventId: eventId(sourceRunId, atSequence),
    divergenceKind: replayed ? changed : 'missing',
    divergencePoint: type,
  };
}
