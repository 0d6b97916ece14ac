/** What a module seems to use of the platform, so that an author hears before an operator does. */
export interface Use {
  readonly primitive: string;
  readonly sign: string;
  readonly line: number;
  readonly column: number;
}

const SIGNS: readonly (readonly [string, RegExp])[] = [
  ['net.outbound', /(?<![\w.$])fetch\s*\(|['"]node:(?:https?|net|tls|dgram)['"]/],
  ['net.dns', /['"]node:dns(?:\/promises)?['"]/],
  ['subprocess', /['"](?:node:)?child_process['"]/],
  ['fs.read', /['"](?:node:)?fs(?:\/promises)?['"]/],
  ['env.read', /\bprocess\.env\b/],
];

/** The first sign of each primitive. Signs are looked for in the text, so that a comment counts as well. */
export function primitivesUsed(source: string): Use[] {
  const lines = source.split('\n');
  return SIGNS.flatMap(([primitive, pattern]) => {
    const line = lines.findIndex((text) => pattern.test(text));
    const found = pattern.exec(lines[line] ?? '');
    return found ? [{ primitive, sign: found[0], line: line + 1, column: found.index + 1 }] : [];
  });
}
