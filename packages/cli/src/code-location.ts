/** The location in its pack where a node failed, as in its error: `index.mjs:195:22`. */
const LOCATION = /^[^\s:]{1,200}(?::\d+){1,2}$/;
const LOCATIONS_MAX = 5;

const isLocation = (value: unknown): value is string => typeof value === 'string' && LOCATION.test(value);

/** Innermost first; empty if the error has none. */
export function locationsOf(details: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const { at, stack } = details ?? {};
  const locations: readonly unknown[] = Array.isArray(stack) ? stack : [at];
  return locations.filter(isLocation).slice(0, LOCATIONS_MAX);
}
