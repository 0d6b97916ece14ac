/** Names that a request may give freely and that nothing reads: probably mistyped, so the answer warns of them. */
import type { Plan } from '@gantry/engine';
import { didYouMean, EVENT_TYPES, HEARTBEAT_EVENTS, type JsonObject } from '@gantry/protocol';

const unknown = (what: string, given: readonly string[], known: readonly string[]): string[] =>
  given
    .filter((name) => !known.includes(name))
    .map((name) => `Unknown ${what} ${JSON.stringify(name)} (ignored).${didYouMean(name, known)}`);

export const unknownInputs = ({ variables }: Plan, inputs: JsonObject): string[] =>
  unknown('input', Object.keys(inputs), [...variables.keys()]);

/** Pack code may read any name of `configurable`, unless the workflow says which there are. */
export function unknownConfigurable({ definition }: Plan, configurable: object): string[] {
  const properties: unknown = definition.configurableSchema?.properties;
  if (typeof properties !== 'object' || properties === null) return [];
  return unknown('name in configurable', Object.keys(configurable), Object.keys(properties));
}

/** Clients may subscribe to events that a later version tells. */
export function unknownEvents(events: readonly string[]): string[] {
  const types: string[] = [...Object.keys(EVENT_TYPES), ...HEARTBEAT_EVENTS];
  const isKnown = (event: string): boolean =>
    event === '*' ||
    types.includes(event) ||
    (event.endsWith('.*') && types.some((type) => type.startsWith(event.slice(0, -1))));
  return unknown(
    'event type',
    events.filter((event) => !isKnown(event)),
    types,
  );
}
