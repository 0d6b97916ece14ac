/** The longest kept goes when there are too many. */
export function remember<T>(cache: Map<string, T>, max: number, key: string, value: T): T {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > max) cache.delete(cache.keys().next().value!);
  return value;
}
