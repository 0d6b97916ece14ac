import type { Json, JsonObject } from '@gantry/protocol';
import { isTooLarge, tooLarge } from '../json.ts';
import type { PlanChannel, PlanNode } from '../plan.ts';
import { emitCaused, type Refusal, type Step } from '../step.ts';
import { inheritedTrust } from '../trust.ts';
import { accessRefusal, schemaBreak } from './access.ts';
import { boundsOf, isList, misfitOf, reduce, sizeOf } from './reducer.ts';

/** The origin of a write. Readers see all of it, except `fromTrigger`. */
export interface WriteOrigin {
  readonly nodeId?: string;
  readonly sourceRunId?: string;
  readonly sourceEngineId?: string;
  /** The writer descends from a channel-write trigger, so this write fires none. */
  readonly fromTrigger?: true;
}

/** The maximum number of entries, whatever `maxSize` says: every write copies the list. */
export const ENTRIES_MAX = 10_000;

/**
 * Writes to a channel for a node of this run. Returns a refusal if nothing was written. @example const refusal
 * = writeChannelFrom(step, node, 'log', { text: 'hello' });
 */
export function writeChannelFrom(step: Step, node: PlanNode, name: string, value: Json): Refusal | undefined {
  const refusal = writeRefusal(step, node, name, value);
  if (!refusal) emitWritten(step, step.plan.channels.get(name)!, value, { nodeId: node.id });
  return refusal;
}

/** Why a node of this run may not write the value. Writes nothing. */
export function writeRefusal(step: Step, node: PlanNode, name: string, value: Json): Refusal | undefined {
  const channel = step.plan.channels.get(name);
  if (!channel) return unknownChannel(name);
  return accessRefusal(channel, 'writers', node) ?? refusalOf(step, channel, value);
}

export const unknownChannel = (channel: string): Refusal => ({
  code: 'validation_error',
  message: `The workflow declares no channel ${channel}.`,
  details: { channel },
});

/** Writes for a caller whose access was already checked. */
export function writeTo(
  step: Step,
  channel: PlanChannel,
  value: Json,
  origin: WriteOrigin,
): Refusal | undefined {
  const refusal = refusalOf(step, channel, value);
  if (!refusal) emitWritten(step, channel, value, origin);
  return refusal;
}

function refusalOf(step: Step, channel: PlanChannel, value: Json): Refusal | undefined {
  const { name, declaration, check } = channel;
  const { reducer } = declaration;
  const broken = schemaBreak(channel, step.run);
  if (broken) return broken;
  if (isTooLarge({ value })) return tooLarge(`Values written to the channel ${name}`);
  const current = step.run.channels[name]?.value;
  const misfit = misfitOf(reducer, current, value);
  if (misfit) return invalid(name, `The channel ${name} ${misfit}.`);
  const wrong = check?.(value);
  if (wrong)
    return invalid(name, `The channel ${name} does not accept the value: ${wrong.message}`, wrong.path);
  const bounds = boundsOf(declaration);
  return sizeRefusal(channel, reduce(reducer, current, entryOf(channel, value, step.now), step.now, bounds));
}

const invalid = (channel: string, message: string, path?: string): Refusal => ({
  code: 'validation_error',
  message,
  details: path === undefined ? { channel } : { channel, path },
});

function sizeRefusal({ name, declaration }: PlanChannel, next: Json): Refusal | undefined {
  const { reducer, maxSize } = declaration;
  const size = sizeOf(next);
  if (maxSize !== undefined && size > maxSize)
    return invalid(name, `The channel ${name} would exceed its size of ${maxSize}.`);
  if (isList(reducer) && size > ENTRIES_MAX)
    return invalid(name, `The channel ${name} is full: it keeps ${ENTRIES_MAX} entries.`);
  return isTooLarge({ next }) ? tooLarge(`The values of the channel ${name}`) : undefined;
}

const entryOf = ({ declaration }: PlanChannel, value: Json, at: number): Json =>
  boundsOf(declaration).ttlMs === undefined ? value : { value, _ts: at };

function emitWritten(step: Step, channel: PlanChannel, value: Json, origin: WriteOrigin): void {
  const { name, declaration } = channel;
  const { fromTrigger, ...shownOrigin } = origin;
  const entry = entryOf(channel, value, step.now);
  // A payload must have a value, even if the workflow omits sensitive ones.
  const shown = declaration.sensitive ? (step.plan.mask(entry) ?? null) : entry;
  const payload: JsonObject = {
    channel: name,
    value: shown,
    reducer: declaration.reducer,
    writtenAt: new Date(step.now).toISOString(),
    schemaVersion: declaration.schemaVersion ?? 1,
    ...shownOrigin,
  };
  const sealed: JsonObject = { ...boundsOf(declaration) };
  if (shown !== entry) sealed.value = entry;
  if (fromTrigger) sealed.fromTrigger = true;
  emitCaused(step, undefined, {
    type: 'channel.written',
    ...(origin.nodeId !== undefined && { nodeId: origin.nodeId }),
    payload,
    ...(Object.keys(sealed).length > 0 && { sealed }),
    ...inheritedTrust(step.run),
  });
}
