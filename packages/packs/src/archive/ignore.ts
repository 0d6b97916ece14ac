import ignore from 'ignore';

const PATTERNS_MAX = 500;
const PATTERN_LENGTH_MAX = 256;

/** Never part of an archive, whatever the ignore file says: the protocol forbids these, or they contain secrets. */
const ALWAYS = ['.git', 'node_modules', '.openwopignore', '.DS_Store', '.env', '.env.*', '.npmrc'];
const LOCKFILES = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pack-lock.json',
];

const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/;

/** Why a file must not be published, however its archive was built; undefined if it may be. */
export function unpublishable(path: string, bytes: Buffer): string | undefined {
  const rules = ignore({ ignorecase: false }).add([...ALWAYS, ...LOCKFILES]);
  if (rules.ignores(path)) return 'it belongs to development, or holds secrets';
  return bytes.includes('PRIVATE KEY-----') && PRIVATE_KEY.test(bytes.toString('latin1'))
    ? 'it holds a private key'
    : undefined;
}

export interface IgnoreRules {
  ignores(path: string, type: 'file' | 'directory'): boolean;
}

/** Reads `.openwopignore`, which uses the patterns of `.gitignore`. */
export function readIgnore(text: string): IgnoreRules {
  const lines = text.split(/\r?\n/).slice(0, PATTERNS_MAX);
  const patterns = lines.map((line) => line.trim().slice(0, PATTERN_LENGTH_MAX));
  const rules = ignore({ ignorecase: false }).add([...patterns, ...ALWAYS, ...LOCKFILES]);
  return { ignores: (path, type) => rules.ignores(type === 'directory' ? `${path}/` : path) };
}
