/** The inputs of `--input`. */
import type { Client } from '@gantry/client';
import type { JsonObject } from '@gantry/protocol';
import { readPairs, splitPair } from './values.ts';

const TAKER = '--input';

/**
 * Values are JSON where they can be read as such, except those of variables that are declared as text: the id 5 is
 * "5" then. A key that may not read the workflow sends JSON.
 */
export async function readInputs(
  client: Client,
  workflowId: string,
  pairs: readonly string[],
): Promise<JsonObject> {
  const inputs = readPairs(pairs, TAKER);
  if (Object.values(inputs).every((value) => typeof value === 'string')) return inputs;
  const definition = await client.workflows.get(workflowId).catch(() => undefined);
  const texts = new Set(
    (definition?.variables ?? []).filter(({ type }) => type === 'string').map(({ name }) => name),
  );
  for (const [name, text] of pairs.map((pair) => splitPair(pair, TAKER)))
    if (texts.has(name) && typeof inputs[name] !== 'string') inputs[name] = text;
  return inputs;
}
