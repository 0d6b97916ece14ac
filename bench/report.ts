/** One line of a table: column name, with its unit, to value. */
export type Row = Readonly<Record<string, string | number | null>>;

export interface Report {
  readonly title: string;
  readonly rows: readonly Row[];
}
export interface Failure {
  readonly title: string;
  readonly error: string;
}

/** Three significant digits are all that a benchmark knows. */
export function round(value: number | null | undefined): number | null {
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
}

const cell = (value: Row[string] | undefined): string =>
  typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 3 }) : (value ?? '-');

export function formatReport({ title, rows }: Report): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const isText = columns.map((column) => rows.some((row) => typeof row[column] === 'string'));
  const format = (line: readonly string[]): string =>
    line
      .map((text, index) =>
        isText[index] ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = lines;
  return [title, format(head), widths.map((width) => '-'.repeat(width)).join('  '), ...body.map(format)].join(
    '\n',
  );
}
