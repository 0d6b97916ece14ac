import type { JsonObject, RunEvent } from '@gantry/protocol';
import type { Draft } from '../apply.ts';
import { isObject, isReservedName } from '../json.ts';
import { numberAt, textAt } from '../payload.ts';
import type { ChannelState } from '../run.ts';
import { type Bounds, reduce } from './reducer.ts';

/** Uses only the event, not the current declaration of the channel: a replay gives the same value. */
export function foldChannel(run: Draft, event: RunEvent, payload: JsonObject): void {
  const name = textAt(payload, 'channel');
  if (event.type !== 'channel.written' || name === '' || isReservedName(name)) return;
  const sealed = isObject(event.sealed) ? event.sealed : {};
  const entry = 'value' in sealed ? sealed.value : payload.value;
  if (entry === undefined) return;
  const before = run.channels[name];
  const value = reduce(textAt(payload, 'reducer'), before?.value, entry, event.at, boundsAt(sealed));
  run.channels = { ...run.channels, [name]: { value, ...versionOf(run, before, payload) } };
}

function boundsAt({ ttlMs, maxSize }: JsonObject): Bounds {
  return {
    ...(typeof ttlMs === 'number' && { ttlMs }),
    ...(typeof maxSize === 'number' && { maxSize }),
  };
}

function versionOf(
  run: Draft,
  before: ChannelState | undefined,
  payload: JsonObject,
): Omit<ChannelState, 'value'> {
  const schemaVersion = numberAt(payload, 'schemaVersion', 1);
  if (before && before.schemaVersion <= schemaVersion)
    return { schemaVersion: before.schemaVersion, schemaSeq: before.schemaSeq };
  return { schemaVersion, schemaSeq: run.nextSeq - 1 };
}
