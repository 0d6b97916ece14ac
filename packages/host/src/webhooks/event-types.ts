/** The event types that a subscription can name. */
import { didYouMean, EVENT_TYPES, HEARTBEAT_EVENTS, invalid } from '@gantry/protocol';

const TYPES: readonly string[] = [...Object.keys(EVENT_TYPES), ...HEARTBEAT_EVENTS];
const GROUPS = [...new Set(TYPES.map((type) => `${type.slice(0, type.indexOf('.'))}.*`))];

const isKnown = (pattern: string): boolean =>
  pattern === '*' ||
  TYPES.includes(pattern) ||
  (pattern.endsWith('.*') && TYPES.some((type) => type.startsWith(pattern.slice(0, -1))));

/** A subscription to what never happens would stay silent, so it is refused. */
export function checkEvents(events: readonly string[]): void {
  const unknown = events.flatMap((pattern, index) => (isKnown(pattern) ? [] : [{ pattern, index }]));
  if (unknown.length === 0) return;
  const fields = unknown.map(({ pattern, index }) => {
    const problem = `Unknown event type ${JSON.stringify(pattern)}.${didYouMean(pattern, [...TYPES, ...GROUPS])}`;
    return { field: `events/${index}`, problem };
  });
  throw invalid(fields.map(({ problem }) => problem).join(' '), { fields });
}
