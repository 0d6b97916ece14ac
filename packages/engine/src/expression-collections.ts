/** Going through lists and maps in expressions. */
import type { Json, JsonObject } from '@gantry/protocol';
import { ExpressionError, type Frame, fail, pay, payKeys, truth } from './expression-functions.ts';
import { isObject, own } from './json.ts';

export type Each = (frame: Frame, item: Json) => Json;

export const COMPREHEND: Record<string, (frame: Frame, items: readonly Json[], each: Each) => Json> = {
  map: (frame, items, each) => items.map((item) => each(frame, item)),
  filter: (frame, items, each) => items.filter((item) => truth(frame, each(frame, item))),
  exists_one: (frame, items, each) => items.filter((item) => truth(frame, each(frame, item))).length === 1,
  all: (frame, items, each) => quantify(frame, items, each, false),
  exists: (frame, items, each) => quantify(frame, items, each, true),
};

/** As in CEL, an item that fails does not count when another one decides. */
function quantify(frame: Frame, items: readonly Json[], each: Each, decisive: boolean): boolean {
  let failure: unknown;
  for (const item of items) {
    try {
      if (truth(frame, each(frame, item)) === decisive) return decisive;
    } catch (error) {
      forgive(frame, error);
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return !decisive;
}

/**
 * Lets an error pass where the language says so; never the one that ends the evaluation. Making an error
 * costs several microseconds.
 */
export function forgive(frame: Frame, error: unknown): void {
  if (!(error instanceof ExpressionError) || error.final) throw error;
  pay(frame, 400);
}

/** What was written, also where that is null; before the first write what the channel begins with. */
export function channelValue({ roots }: Frame, name: string, initial: Json | undefined): Json {
  const written = own(roots.channels as JsonObject, name);
  return written === undefined ? (initial ?? fail(`The channel ${name} is empty.`)) : written;
}

export function itemsOf(frame: Frame, value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return fail('Only lists and maps can be gone through.');
  const keys = Object.keys(value);
  payKeys(frame, keys.length);
  return keys;
}

export function member(frame: Frame, target: Json, key: Json): Json {
  pay(frame, 1);
  if (isObject(target) && typeof key === 'string') {
    if (Object.hasOwn(target, key)) return target[key]!;
    return fail(`There is no \`${key.slice(0, 100)}\`.`);
  }
  if (Array.isArray(target) && typeof key === 'number') {
    const item = target[key];
    return item === undefined ? fail('The list has no such place.') : item;
  }
  return fail(`\`${String(key).slice(0, 100)}\` cannot be read: this is neither a map nor a list.`);
}
