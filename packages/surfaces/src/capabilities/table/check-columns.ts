/** Checks the columns that a call names: a filter on a missing one would match nothing, or with `$ne` all rows. */
import { didYouMean, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { isObject } from '../../calls/data.ts';
import type { PortRead } from '../../calls/surface-call.ts';
import type { CollectionName, DocumentsPort } from '../../ports/documents.ts';
import type { ColumnType } from '../documents/columns.ts';
import type { Filter, SortField } from '../documents/filter.ts';

export interface ColumnUse {
  readonly filter?: Filter;
  readonly sort?: readonly SortField[];
  readonly patch?: JsonObject;
}

type Types = Readonly<Record<string, ColumnType>>;

/** Throws `table_schema_violation`. The port handles tables that are undeclared or missing. */
export async function checkColumns(
  port: DocumentsPort,
  { space, collection }: CollectionName,
  { filter, sort = [], patch = {} }: ColumnUse,
  call: PortRead,
): Promise<void> {
  const compared = filter ? comparisonsIn(filter) : [];
  const named = [
    ...compared.map(({ column }) => column),
    ...sort.map(({ path }) => path[0]!),
    ...Object.keys(patch),
  ];
  if (named.length === 0) return;
  const columns = (await port.describe({ space, collection }, call))?.columns;
  if (!columns?.closed) return;
  for (const column of named) checkName(column, columns.types);
  for (const comparison of compared) checkValues(comparison, columns.types);
}

interface Comparison {
  readonly column: string;
  /** Whether it is a nested member of the column. */
  readonly isInner: boolean;
  readonly values: readonly Json[];
}

function comparisonsIn(filter: Filter): Comparison[] {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.flatMap(comparisonsIn);
    case 'not':
      return comparisonsIn(filter.of);
    case 'id':
      return [];
    case 'in':
    case 'compare':
    case 'exists': {
      const [column = '', ...inner] = filter.path;
      return [{ column, isInner: inner.length > 0, values: filter.kind === 'in' ? filter.values : [] }];
    }
  }
}

function checkName(column: string, types: Types): void {
  if (column === 'id' || Object.hasOwn(types, column)) return;
  const names = [...new Set(['id', ...Object.keys(types)])];
  throw violation(
    column,
    `The table has no column "${column}".${didYouMean(column, names)} It has ${names.join(', ')}.`,
  );
}

/** Only `json` columns have lists and objects as values; `{ gt: 5 }` was meant to be `{ $gt: 5 }`. */
function checkValues({ column, isInner, values }: Comparison, types: Types): void {
  const type = Object.hasOwn(types, column) ? types[column] : undefined;
  if (isInner || type === undefined || type === 'json') return;
  const odd = values.find((value) => typeof value === 'object' && value !== null);
  if (odd === undefined) return;
  const operator = isObject(odd) ? Object.keys(odd)[0] : '$in';
  const meant = OPERATORS.find((each) => each === operator || each === `$${operator}`);
  throw violation(
    column,
    `The column "${column}" holds ${type} values, and the filter compares it with ${isObject(odd) ? 'an object' : 'a list'}.` +
      (meant ? ` Did you mean \`${meant}\`?` : ''),
  );
}

const OPERATORS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$not'];

const violation = (column: string, message: string): OpenwopError =>
  new OpenwopError('table_schema_violation', { message, details: { column } });
