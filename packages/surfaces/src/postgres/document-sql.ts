/** Documents are jsonb. Every parameter is text that says what it is cast to, so the driver guesses nothing. */
import type { Path } from '../documents/filter.ts';
import { type Bind, type Dialect, SORTED_CHARACTERS } from '../documents/query-sql.ts';

/** Text after `->` enters objects only; a number would also enter arrays. */
const valueAt = (path: Path, bind: Bind): string =>
  `(doc${path.map((name) => ` -> ${bind(name)}::text`).join('')})`;

export const POSTGRES: Dialect = {
  placeholder: (position) => `$${position}`,
  in(path, values, bind) {
    const value = `coalesce(${valueAt(path, bind)}, 'null'::jsonb)`;
    const [only, ...more] = values;
    return more.length === 0
      ? `${value} = ${bind(JSON.stringify(only))}::text::jsonb`
      : `${value} in (select jsonb_array_elements(${bind(JSON.stringify(values))}::text::jsonb))`;
  },
  compare(path, is, operand, bind) {
    const value = valueAt(path, bind);
    return typeof operand === 'number'
      ? `coalesce(jsonb_typeof(${value}) = 'number' and ${value} ${is} ${bind(JSON.stringify(operand))}::text::jsonb, false)`
      : `coalesce(jsonb_typeof(${value}) = 'string' and (${value} #>> '{}') collate "C" ${is} ${bind(operand)}::text, false)`;
  },
  exists: (path, bind) => `${valueAt(path, bind)} is not null`,
  order(path, bind) {
    const value = valueAt(path, bind);
    const type = `jsonb_typeof(${value})`;
    return [
      `case ${type} when 'boolean' then 1 when 'number' then 2 when 'string' then 3 when 'array' then 4 ` +
        `when 'object' then 4 else 0 end`,
      `case ${type} when 'number' then (${value} #>> '{}')::float8 ` +
        `when 'boolean' then (${value} #>> '{}')::boolean::integer::float8 else 0 end`,
      `case ${type} when 'string' then left(${value} #>> '{}', ${SORTED_CHARACTERS}) else '' end collate "C"`,
    ];
  },
  cell: (value, bind) => `left((${bind(JSON.stringify(value))}::text::jsonb)::text, 64)`,
};
