/**
 * YAML that means the same as JSON: one document of the core schema of YAML 1.2, without tags, merge keys and other
 * versions. Values have the limits of JSON, also after aliases are expanded.
 */
import { isRounded, type Json } from '@gantry/protocol';
import type { Alias, Document, LineCounter, ParsedNode, Scalar } from 'yaml';
import { type JsonSource, nearest, pointer } from './json-source.ts';

type Yaml = typeof import('yaml');

/** The parser needs 3 seconds for a mebibyte of short lines. */
const LENGTH_MAX = 1024 * 1024;
const ALIASES_MAX = 100;
/** Values and characters, with every alias expanded. */
const EXPANDED_MAX = 4 * 1024 * 1024;

const MESSAGE_MAX = 200;

const DOCUMENT = {
  version: '1.2',
  schema: 'core',
  intAsBigInt: true,
  prettyErrors: false,
  // Compares each key with all others
  uniqueKeys: false,
} as const;

export async function readYamlSource(
  text: string,
  options: { readonly depthMax: number },
): Promise<JsonSource> {
  const start = { line: 1, column: 1 };
  if (text.length > LENGTH_MAX)
    return {
      kind: 'broken',
      message: `The YAML has more than ${LENGTH_MAX} characters. Write it as JSON.`,
      position: start,
    };
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { ...DOCUMENT, lineCounter: lines });
  const reader = new Reader(yaml, options.depthMax);
  try {
    const value = reader.document(document);
    return { kind: 'json', value, positionOf: (at) => positionAt(lines, nearest(reader.offsets, at)) };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { kind: 'broken', message: error.message, position: positionAt(lines, error.offset) };
  }
}

class Broken extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** A value that an alias can repeat; `size` and `height` are what it adds. */
interface Anchored {
  readonly value: Json;
  readonly size: number;
  readonly height: number;
}

/** Makes JSON of a parsed document, and notes where each value is. */
class Reader {
  readonly offsets = new Map<string, number>();
  readonly #yaml: Yaml;
  readonly #depthMax: number;
  /** Undefined while the value of the anchor is read. */
  readonly #anchors = new Map<string, Anchored | undefined>();
  #aliases = 0;
  #size = 0;
  #deepest = 0;

  constructor(yaml: Yaml, depthMax: number) {
    this.#yaml = yaml;
    this.#depthMax = depthMax;
  }

  document(document: Document.Parsed): Json {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw new Broken(problem.pos[0], inWords(problem, this.#depthMax));
    if (document.directives.yaml.version !== '1.2') throw new Broken(0, 'Only YAML 1.2 is read.');
    return this.#value(document.contents, '', 0);
  }

  #value(node: ParsedNode | null, at: string, depth: number): Json {
    const offset = node?.range[0] ?? 0;
    this.offsets.set(at, this.offsets.get(at) ?? offset);
    if (node === null) return null;
    if (node.tag !== undefined) throw new Broken(offset, `Tags are not read: remove ${node.tag}.`);
    if (this.#yaml.isAlias(node)) return this.#repeated(node, offset, depth);
    const { anchor } = node;
    if (anchor === undefined) return this.#plain(node, at, depth);
    this.#anchors.set(anchor, undefined);
    const before = { size: this.#size, deepest: this.#deepest };
    this.#deepest = depth;
    const value = this.#plain(node, at, depth);
    this.#anchors.set(anchor, { value, size: this.#size - before.size, height: this.#deepest - depth });
    this.#deepest = Math.max(this.#deepest, before.deepest);
    return value;
  }

  #plain(node: Exclude<ParsedNode, Alias.Parsed>, at: string, depth: number): Json {
    const { isMap, isSeq } = this.#yaml;
    this.#grow(1, depth, node.range[0]);
    if (isSeq(node)) return node.items.map((item, index) => this.#value(item, pointer(at, index), depth + 1));
    if (!isMap(node)) return this.#scalar(node);
    const members = new Map<string, Json>();
    for (const { key, value } of node.items) {
      const offset = key?.range[0] ?? node.range[0];
      const name = this.#nameOf(key, offset);
      if (members.has(name)) throw new Broken(offset, `Duplicate key ${JSON.stringify(name.slice(0, 64))}.`);
      const path = pointer(at, name);
      this.offsets.set(path, offset);
      members.set(name, this.#value(value, path, depth + 1));
    }
    return Object.fromEntries(members);
  }

  #nameOf(key: ParsedNode | null, offset: number): string {
    const name = key && this.#yaml.isScalar(key) && key.tag === undefined ? key.value : undefined;
    if (typeof name !== 'string')
      throw new Broken(offset, 'A key must be text: write a number, `true`, `null` or a tag in quotes.');
    if (name === '__proto__') throw new Broken(offset, 'The key __proto__ is not taken.');
    if (name === '<<' && (key as Scalar).type === this.#yaml.Scalar.PLAIN)
      throw new Broken(offset, 'Merge keys are not read: write the members out, or repeat a whole value.');
    this.#size += name.length;
    return name;
  }

  #scalar({ value, range: [offset] }: Scalar.Parsed): Json {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed())
        throw new Broken(offset, 'Text with a NUL character or a lone surrogate cannot be stored.');
      this.#size += value.length;
      return value;
    }
    const number = Number(value);
    if (!Number.isFinite(number)) throw new Broken(offset, 'JSON has no such number: write it as text.');
    if (typeof value === 'bigint' && isRounded(String(value)))
      throw new Broken(offset, `The integer ${String(value).slice(0, 40)} is too large: write it as text.`);
    return number;
  }

  #repeated({ source }: Alias.Parsed, offset: number, depth: number): Json {
    if (++this.#aliases > ALIASES_MAX) throw new Broken(offset, `A file has at most ${ALIASES_MAX} aliases.`);
    const known = this.#anchors.get(source);
    if (!known)
      throw new Broken(
        offset,
        this.#anchors.has(source)
          ? `The alias *${source} is inside of its own value.`
          : `There is no anchor &${source} before this alias.`,
      );
    this.#grow(known.size, depth + known.height, offset);
    return known.value;
  }

  #grow(size: number, depth: number, offset: number): void {
    this.#size += size;
    this.#deepest = Math.max(this.#deepest, depth);
    if (depth > this.#depthMax) throw new Broken(offset, tooDeep(this.#depthMax));
    if (this.#size > EXPANDED_MAX)
      throw new Broken(
        offset,
        `With its aliases expanded the file is larger than ${EXPANDED_MAX} characters.`,
      );
  }
}

const tooDeep = (depthMax: number): string => `Nested deeper than ${depthMax} levels.`;

function inWords({ code, message }: Document.Parsed['errors'][number], depthMax: number): string {
  if (code === 'MULTIPLE_DOCS') return 'A file has one document: remove the second one.';
  return code === 'RESOURCE_EXHAUSTION' ? tooDeep(depthMax) : `${message.slice(0, MESSAGE_MAX)}.`;
}

function positionAt(lines: LineCounter, offset: number) {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
