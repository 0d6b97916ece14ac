// Shipped lines per package, and the difference to the commit before (or to the commit in the first argument).
// Counted: source and SQL under packages/, without tests, contracts, corpora and what is built.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const git = (...words) => execFileSync('git', words, { encoding: 'utf8', maxBuffer: 1e9, stdio: 'pipe' });
const isShipped = (file) =>
  /\.(ts|tsx|mts|mjs|js|css|py|sql|lua)$/.test(file) &&
  !/\.test\.|\/testing\/|^packages\/[^/]+\/test\/|contract|corpus|\/dist\//.test(file);
const linesOf = (text) => text.split('\n').length - 1;

/** Lines by package; of the work tree where no commit is named. */
function count(commit) {
  const list = commit
    ? git('ls-tree', '-r', '--name-only', commit, '--', 'packages')
    : git('ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', 'packages');
  const files = list.split('\n').filter(isShipped);
  const texts = commit ? contentsOf(commit, files) : files.map(readIfThere);
  const lines = new Map();
  files.forEach((file, at) => {
    const room = file.split('/')[1];
    lines.set(room, (lines.get(room) ?? 0) + linesOf(texts[at]));
  });
  return lines;
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

/** One process for all files: a process for each takes seconds. */
function contentsOf(commit, files) {
  const input = files.map((file) => `${commit}:${file}\n`).join('');
  const bytes = execFileSync('git', ['cat-file', '--batch'], { input, maxBuffer: 1e9 });
  const texts = [];
  for (let at = 0; at < bytes.length; ) {
    const headEnd = bytes.indexOf('\n', at);
    const size = Number(bytes.toString('utf8', at, headEnd).split(' ')[2]);
    texts.push(bytes.toString('utf8', headEnd + 1, headEnd + 1 + size));
    at = headEnd + size + 2;
  }
  return texts;
}

/** In a changed work tree the commit before is the newest one. */
function baseCommit() {
  const [named] = process.argv.slice(2);
  if (named) return git('rev-parse', '--verify', `${named}^{commit}`).trim();
  return git('status', '--porcelain', '--', 'packages') ? 'HEAD' : 'HEAD~1';
}

let base;
try {
  base = baseCommit();
} catch {
  console.error('Usage: npm run size [COMMIT], in a clone with history');
  process.exit(2);
}
const now = count();
const before = count(base);
const sum = (lines) => [...lines.values()].reduce((total, each) => total + each, 0);
const row = (name, to, from) => {
  const change = to - from;
  console.log(
    `${name.padEnd(12)}${String(to).padStart(8)}${change === 0 ? '' : `${change > 0 ? '+' : ''}${change}`.padStart(8)}`,
  );
};
for (const room of [...new Set([...now.keys(), ...before.keys()])].sort())
  row(room, now.get(room) ?? 0, before.get(room) ?? 0);
row('all', sum(now), sum(before));
