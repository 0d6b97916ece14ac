/**
 * The parts of a structured secret that are secret on their own: strings of JSON, lines of a PEM key, the password of a
 * URL. A part that reads as words, such as `service_account` or `https://oauth2.googleapis.com/token`, is not one
 * unless its place says so (`password`, `client_secret`): it would be redacted wherever else it occurs.
 */
import type { Json } from '../json.ts';
import { isRedactable } from './forms.ts';

const PARTS_MAX = 256;
const DEPTH_MAX = 16;
const LINE_MIN = 16;

/** The part itself is only redacted if it is secret; its own parts are looked for in any case. */
interface Piece {
  readonly text: string;
  readonly isSecret: boolean;
}

/** Without the value itself. */
export function partsOf(value: string): readonly string[] {
  const parts = new Set<string>();
  let pieces: readonly Piece[] = [{ text: value.trim(), isSecret: false }];
  for (let depth = 0; depth < DEPTH_MAX && pieces.length > 0 && parts.size < PARTS_MAX; depth++) {
    pieces = pieces.flatMap(({ text }) => piecesOf(text));
    for (const { text, isSecret } of pieces)
      if (isSecret && isRedactable(text) && parts.size < PARTS_MAX) parts.add(text);
  }
  return [...parts];
}

/** Of the value and its parts. */
export const charactersOf = (value: string): number =>
  partsOf(value).reduce((sum, { length }) => sum + length, value.length);

const piecesOf = (text: string): readonly Piece[] =>
  jsonPieces(text) ?? urlPieces(text) ?? (/[\r\n]/.test(text) ? linePieces(text) : []);

function jsonPieces(text: string): Piece[] | undefined {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    return strings(JSON.parse(text), 'secret', 0);
  } catch {
    return undefined;
  }
}

/** Members whose last word names a secret. */
const NAMED = /(?:pass(?:word|wd|phrase|code)?|pwd?|secret|token|key|credentials?|pin)\d*$/i;

function strings(value: Json, name: string, depth: number): Piece[] {
  if (typeof value === 'string') return [{ text: value, isSecret: NAMED.test(name) || !readsAsWords(value) }];
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return [];
  if (Array.isArray(value)) return value.flatMap((item) => strings(item, depth === 0 ? '' : name, depth + 1));
  return Object.entries(value).flatMap(([key, member]) => strings(member, key, depth + 1));
}

/** User and password, as written and decoded. */
function urlPieces(text: string): Piece[] | undefined {
  const [, user = '', password = ''] =
    /^[a-z][a-z\d+.-]*:\/\/([^\s/?#:]*)(?::([^\s/?#]*))?@/i.exec(text) ?? [];
  if (user === '' && password === '') return undefined;
  const pieces = [
    { text: password, isSecret: true },
    { text: user, isSecret: !readsAsWords(user) },
  ];
  return pieces.flatMap((piece) => [piece, { ...piece, text: decoded(piece.text) }]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const linePieces = (text: string): Piece[] =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= LINE_MIN)
    .map((line) => ({ text: line, isSecret: !readsAsWords(line) }));

/** Letters of one case, or words in camel case, and at most six digits after them. */
const WORD = /^(?:\p{Ll}{0,20}|\p{Lu}{0,20}|\p{Lu}?\p{Ll}{2,20}(?:\p{Lu}\p{Ll}{2,20}){0,3})\d{0,6}$/u;

const readsAsWords = (text: string): boolean =>
  text.split(/[^\p{L}\p{M}\d]+/u).every((word) => WORD.test(word));
