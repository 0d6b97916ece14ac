/** What tests ask of the log of a run. */
import assert from 'node:assert/strict';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';

export const typesOf = (events: readonly RunEventDoc[]): string[] => events.map(({ type }) => type);

export const payloadsOf = (events: readonly RunEventDoc[], type: string): JsonObject[] =>
  events.filter((event) => event.type === type).map(({ payload }) => payload);

/** The one event of that type. */
export function only(events: readonly RunEventDoc[], type: string): RunEventDoc {
  const found = events.filter((event) => event.type === type);
  assert.equal(found.length, 1, `${found.length} events of type ${type} in ${typesOf(events).join(' ')}`);
  return found[0]!;
}

/** These types occur in this order, with others between them. */
export function assertOrder(events: readonly RunEventDoc[], types: readonly string[]): void {
  let at = -1;
  for (const type of types) {
    at = events.findIndex((event, index) => index > at && event.type === type);
    assert.ok(at >= 0, `no ${type} in its place: ${typesOf(events).join(' ')}`);
  }
}
