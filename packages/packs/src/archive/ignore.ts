/**
 * `.openwopignore`: a subset of what `.gitignore` means. One pattern a line; `#` begins a comment; `!` takes
 * back; a trailing `/` means folders only; a `/` elsewhere anchors the pattern at the root of the pack; `*` and
 * `?` stay inside a name, `**` crosses folders. The last pattern that matches decides. What is inside an ignored
 * folder cannot be taken back. Character classes and escapes are not part of it.
 */
export interface IgnoreRules {
  ignores(path: string, type: 'file' | 'directory'): boolean;
}

interface Pattern {
  readonly segments: readonly string[];
  readonly takesBack: boolean;
  readonly foldersOnly: boolean;
}

const PATTERNS_MAX = 500;
const PATTERN_LENGTH_MAX = 256;

/** Never part of an archive, whatever the file says: the protocol forbids them, or they hold secrets. */
const ALWAYS = ['.git', 'node_modules', '.openwopignore', '.DS_Store', '.env', '.env.*', '.npmrc'];
const LOCKFILES = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pack-lock.json',
];
const fixed = [...ALWAYS, ...LOCKFILES].map((line) => readPattern(line));

export function readIgnore(text: string): IgnoreRules {
  const patterns = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(0, PATTERNS_MAX)
    .map((line) => readPattern(line.slice(0, PATTERN_LENGTH_MAX)));
  return {
    ignores: (path, type) => {
      const segments = path.split('/');
      const applies = (pattern: Pattern): boolean =>
        (type === 'directory' || !pattern.foldersOnly) && matches(pattern.segments, segments);
      if (fixed.some(applies)) return true;
      const last = patterns.findLast(applies);
      return last !== undefined && !last.takesBack;
    },
  };
}

function readPattern(line: string): Pattern {
  const takesBack = line.startsWith('!');
  const body = takesBack ? line.slice(1) : line;
  const foldersOnly = body.endsWith('/');
  const path = body.replace(/\/+$/, '');
  const isAnchored = path.includes('/');
  const segments = path.split('/').filter((segment) => segment !== '');
  return { takesBack, foldersOnly, segments: isAnchored ? segments : ['**', ...segments] };
}

/** Whether all segments of a path fit; `**` takes any number of them. */
function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return globMatches(
    { length: pattern.length, isStar: (index) => pattern[index] === '**' },
    path.length,
    (at, position) => nameMatches(pattern[at] ?? '', path[position] ?? ''),
  );
}

function nameMatches(pattern: string, name: string): boolean {
  return globMatches(
    { length: pattern.length, isStar: (index) => pattern[index] === '*' },
    name.length,
    (at, position) => pattern[at] === '?' || pattern[at] === name[position],
  );
}

interface Glob {
  readonly length: number;
  isStar(index: number): boolean;
}

/** Greedy with one point of return, so never more than pattern times text steps. */
function globMatches(
  pattern: Glob,
  length: number,
  fits: (at: number, position: number) => boolean,
): boolean {
  let at = 0;
  let position = 0;
  let star = -1;
  let mark = 0;
  while (position < length) {
    if (at < pattern.length && pattern.isStar(at)) {
      star = at++;
      mark = position;
    } else if (at < pattern.length && fits(at, position)) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++mark;
    } else return false;
  }
  while (at < pattern.length && pattern.isStar(at)) at++;
  return at === pattern.length;
}
