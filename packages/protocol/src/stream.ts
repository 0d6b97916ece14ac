import { OpenwopError } from './error.ts';
import { EVENT_TYPES, isEventType } from './event-catalogue.ts';

export const STREAM_MODES = ['updates', 'values', 'messages', 'debug'] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

/** Frames that exist only on streams and are derived from events: `values` sends the first, `messages` the second. */
export const STREAM_FRAMES = ['state.snapshot', 'ai.message.chunk'] as const;

const isMode = (text: string): text is StreamMode => STREAM_MODES.some((mode) => mode === text);

/**
 * The modes of a `streamMode` query: a comma list, `updates` by default. `values` cannot be combined.
 * @example parseStreamMode('updates,messages') // ['updates', 'messages']
 */
export function parseStreamMode(text: string | undefined): readonly StreamMode[] {
  if (text === undefined) return ['updates'];
  const members = [...new Set(text.split(','))];
  const alone = members.length === 1 || !members.includes('values');
  if (!alone || !members.every(isMode)) {
    throw new OpenwopError('unsupported_stream_mode', { details: { supported: [...STREAM_MODES] } });
  }
  return members;
}

/**
 * Whether a stream in these modes reacts to an event: `updates` and `debug` send the event itself,
 * `values` a snapshot, `messages` a message chunk. Types outside the catalogue are for `debug` only.
 */
export function admits(modes: readonly StreamMode[], eventType: string): boolean {
  if (modes.includes('debug')) return true;
  return isEventType(eventType) && EVENT_TYPES[eventType].some((mode) => modes.includes(mode));
}
