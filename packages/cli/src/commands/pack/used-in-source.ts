/** Guesses what the source of a pack uses, so that the author is warned before an operator is. */

export interface Use {
  /** A primitive of the platform. */
  readonly name: string;
  readonly sign: string;
  readonly line: number;
  readonly column: number;
}

type Signs = readonly (readonly [name: string, pattern: RegExp])[];

const NODE_FS = /['"](?:node:)?fs(?:\/promises)?['"]/;

const PRIMITIVES: Signs = [
  ['net.outbound', /(?<![\w.$])fetch\s*\(|['"]node:(?:https?|net|tls|dgram)['"]/],
  ['net.dns', /['"]node:dns(?:\/promises)?['"]/],
  ['subprocess', /['"](?:node:)?child_process['"]/],
  ['fs.read', NODE_FS],
  ['env.read', /\bprocess\.env\b/],
];

/** The first match of each. Matching is textual, so comments match too. */
function firstSigns(source: string, signs: Signs): Use[] {
  const lines = source.split('\n');
  return signs.flatMap(([name, pattern]) => {
    const line = lines.findIndex((text) => pattern.test(text));
    const found = pattern.exec(lines[line] ?? '');
    return found ? [{ name, sign: found[0].trim(), line: line + 1, column: found.index + 1 }] : [];
  });
}

export const primitivesUsed = (source: string): Use[] => firstSigns(source, PRIMITIVES);
