/** Where in its pack a node failed, as its error tells it: `index.mjs:195:22`. */
const PLACE = /^[^\s:]{1,200}(?::\d+){1,2}$/;
const PLACES_MAX = 5;

const isPlace = (value: unknown): value is string => typeof value === 'string' && PLACE.test(value);

/** Innermost first; none when the error tells none. */
export function placesOf(details: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const { at, stack } = details ?? {};
  const places: readonly unknown[] = Array.isArray(stack) ? stack : [at];
  return places.filter(isPlace).slice(0, PLACES_MAX);
}
