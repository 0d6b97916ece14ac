/** Parses filters of packs. Anything that is not listed here is refused by name. */
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { isObject } from '../../calls/data.ts';
import { isPlainJson, isPlainText } from '../../calls/schema.ts';
import { jsonBytes } from '../../text.ts';
import { type Comparison, type Filter, isFieldName, type Path, type SortField } from './filter.ts';

const FILTER_LIMITS = {
  bytesMax: 65_536,
  depthMax: 10,
  conditionsMax: 100,
  valuesMax: 1_000,
  segmentsMax: 10,
  sortFieldsMax: 3,
} as const;

type RejectedCode = 'nosql_filter_rejected' | 'validation_error';

const COMPARISONS = new Map<string, Comparison>([
  ['$gt', '>'],
  ['$gte', '>='],
  ['$lt', '<'],
  ['$lte', '<='],
]);

class Rejected extends Error {}

/** Throws `code`. */
export function parseFilter(filter: JsonObject, code: RejectedCode): Filter {
  return reading(code, () => {
    if (jsonBytes(filter) > FILTER_LIMITS.bytesMax)
      throw new Rejected(`A filter can have at most ${FILTER_LIMITS.bytesMax} bytes.`);
    return new Reader().filter(filter, 0);
  });
}

function reading<T>(code: RejectedCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    throw new OpenwopError(code, { message: error.message });
  }
}

class Reader {
  #conditions = 0;
  #values = 0;

  filter(filter: Json, depth: number): Filter {
    if (!isObject(filter)) throw new Rejected('A filter must be an object.');
    if (depth > FILTER_LIMITS.depthMax)
      throw new Rejected(`A filter can be at most ${FILTER_LIMITS.depthMax} levels deep.`);
    const of = Object.entries(filter).map(([name, value]) => this.#member(name, value as Json, depth));
    return of.length === 1 ? of[0]! : { kind: 'all', of };
  }

  #member(name: string, value: Json, depth: number): Filter {
    if (name === '$and') return { kind: 'all', of: this.#filters(name, value, depth) };
    if (name === '$or') return { kind: 'any', of: this.#filters(name, value, depth) };
    if (name === '$not') return { kind: 'not', of: this.filter(value, depth + 1) };
    const path = pathOf(name);
    const isOperators = isObject(value) && Object.keys(value).some((key) => key.startsWith('$'));
    return isOperators ? this.#operators(path, value as JsonObject, depth) : this.#in(path, [value]);
  }

  #filters(name: string, value: Json, depth: number): Filter[] {
    if (!Array.isArray(value) || value.length === 0)
      throw new Rejected(`${name} requires a list of filters.`);
    return value.map((each) => this.filter(each, depth + 1));
  }

  #operators(path: Path, operators: JsonObject, depth: number): Filter {
    if (depth > FILTER_LIMITS.depthMax)
      throw new Rejected(`A filter can be at most ${FILTER_LIMITS.depthMax} levels deep.`);
    const of = Object.entries(operators).map(([name, value]) => this.#operator(path, name, value, depth));
    return of.length === 1 ? of[0]! : { kind: 'all', of };
  }

  #operator(path: Path, name: string, value: Json, depth: number): Filter {
    const is = COMPARISONS.get(name);
    if (is) return this.#compare(path, name, is, value);
    switch (name) {
      case '$eq':
        return this.#in(path, [value]);
      case '$ne':
        return { kind: 'not', of: this.#in(path, [value]) };
      case '$in':
        return this.#in(path, listOf(name, value));
      case '$nin':
        return { kind: 'not', of: this.#in(path, listOf(name, value)) };
      case '$exists':
        return this.#exists(path, value);
      case '$not':
        if (!isObject(value) || !Object.keys(value).every((key) => key.startsWith('$')))
          throw new Rejected('$not of a field requires operators.');
        return { kind: 'not', of: this.#operators(path, value as JsonObject, depth + 1) };
      default:
        throw new Rejected(
          `The filter operator "${shown(name)}" is not served. Use $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, ` +
            '$exists, $and, $or or $not.',
        );
    }
  }

  #in(path: Path, values: readonly Json[]): Filter {
    this.#count(values.length);
    if (!values.every(isPlainJson))
      throw new Rejected('A value in a filter has a NUL character or a lone surrogate in its text.');
    const odd = values.map(operatorIn).find((name) => name !== undefined);
    if (odd !== undefined)
      throw new Rejected(`"${shown(odd)}" is inside a value, where operators are not allowed.`);
    return { kind: 'in', path, values };
  }

  #compare(path: Path, name: string, is: Comparison, value: Json): Filter {
    this.#count(1);
    if (typeof value !== 'number' && !(typeof value === 'string' && isPlainText(value)))
      throw new Rejected(`${name} requires a number or a string.`);
    return { kind: 'compare', path, is, value };
  }

  #exists(path: Path, value: Json): Filter {
    this.#count(1);
    if (typeof value !== 'boolean') throw new Rejected('$exists requires true or false.');
    return value ? { kind: 'exists', path } : { kind: 'not', of: { kind: 'exists', path } };
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > FILTER_LIMITS.valuesMax)
      throw new Rejected(`A filter can have at most ${FILTER_LIMITS.valuesMax} values.`);
    if (++this.#conditions > FILTER_LIMITS.conditionsMax)
      throw new Rejected(`A filter can have at most ${FILTER_LIMITS.conditionsMax} conditions.`);
  }
}

/** A value that looks like an operator was meant as one, by the author or an attacker. */
function operatorIn(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const found = names.find((name) => name.startsWith('$'));
  return (
    found ??
    Object.values(value)
      .map(operatorIn)
      .find((name) => name !== undefined)
  );
}

function listOf(name: string, value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  throw new Rejected(`${name} requires a list of values.`);
}

const shown = (name: string): string => name.slice(0, 40);

function pathOf(name: string): Path {
  const path = name.split('.');
  if (path.length <= FILTER_LIMITS.segmentsMax && path.every(isFieldName)) return path;
  const hint = name.startsWith('$')
    ? 'only $and, $or and $not are allowed here'
    : 'a field is a path of names separated by dots, without quotes, backslashes or a leading $';
  throw new Rejected(`"${shown(name)}" is not a field: ${hint}.`);
}

/** `x.y`. Throws `code`. */
export const parsePath = (name: string, code: RejectedCode): Path => reading(code, () => pathOf(name));

/** `{ name: 1, age: -1 }` */
export function parseSort(sort: JsonObject, code: RejectedCode): SortField[] {
  return parseOrder(
    Object.entries(sort).map(([name, direction]) => ({ name, descending: directionOf(direction, code) < 0 })),
    code,
  );
}

function directionOf(direction: Json, code: RejectedCode): number {
  if (direction === 1 || direction === -1) return direction;
  throw new OpenwopError(code, { message: 'The sort order of a field must be 1 or -1.' });
}

/** `['name', '-age', 'city desc']` */
export function parseOrderBy(order: readonly string[], code: RejectedCode): SortField[] {
  return parseOrder(
    order.map((each) => {
      const [, minus, name = '', word = 'asc'] = /^(-?)(.*?)(?: (asc|desc))?$/i.exec(each) ?? [];
      return { name, descending: (minus === '-') !== (word.toLowerCase() === 'desc') };
    }),
    code,
  );
}

function parseOrder(
  fields: readonly { readonly name: string; readonly descending: boolean }[],
  code: RejectedCode,
): SortField[] {
  return reading(code, () => {
    if (fields.length > FILTER_LIMITS.sortFieldsMax)
      throw new Rejected(`At most ${FILTER_LIMITS.sortFieldsMax} fields can be sorted by.`);
    return fields.map(({ name, descending }) => ({ path: pathOf(name), descending }));
  });
}
