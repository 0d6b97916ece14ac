// Builds the console: one style sheet, and scripts that load the rest when it is opened. Files are named by their
// content and compressed here, so that the host only sends them. Runs on any Node from 18 on.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const source = path.join(root, 'packages/console/src');
const CACHE = path.join(root, 'node_modules/.cache/console');
const TEMPLATE = path.join(source, 'app/index.html');

const ENTRIES = { app: 'app/main.tsx', style: 'look/style.css' };
/** Runs before the first paint, in browsers of any age, and is not a module. */
const BOOT = { boot: 'app/boot.ts' };
/** Also said by `boot.ts`, where it can be tried. */
const TARGET = ['chrome120', 'firefox121', 'safari17.2'];
const COMPRESSED = /\.(js|css|svg|txt)$/;
/** Pages that are open still load parts of earlier builds. */
const KEPT_MS = 86_400_000;
const FAILED = 'failed.txt';
/** Versions of libraries, and what builds. */
const BESIDE = ['package-lock.json', 'scripts/build-console.mjs'];

const optionsOf = (entries) => ({
  entryPoints: Object.entries(entries).map(([out, file]) => ({ out, in: path.resolve(source, file) })),
  outdir: path.join(CACHE, 'assets'),
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  platform: 'browser',
  target: TARGET,
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.woff2': 'file', '.svg': 'file' },
  legalComments: 'none',
  logLevel: 'silent',
});

/** `entries` replaces sources of the page: tests build their own. */
export async function buildConsole({ folder = CACHE, entries = {} } = {}) {
  const { build } = await import('esbuild');
  const builtAt = Date.now();
  const [app, boot] = await Promise.all([
    build({ ...optionsOf({ ...ENTRIES, ...entries }), splitting: true, format: 'esm' }),
    build({ ...optionsOf(BOOT), format: 'iife' }),
  ]);
  const assets = path.join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  const files = [...app.outputFiles, ...boot.outputFiles].map((file) =>
    keep(assets, path.basename(file.path), file.contents),
  );
  const icon = keepNamed(assets, path.join(source, 'app/icon.svg'));
  const inputs = { ...app.metafile.inputs, ...boot.metafile.inputs };
  const sources = Object.keys(inputs).filter((file) => file.startsWith('packages/'));
  const watched = [...sources, ...BESIDE, ...[TEMPLATE, icon.from].map((file) => path.relative(root, file))];
  const made = {
    builtAt,
    page: pageOf([...files, icon.name]),
    sizes: Object.fromEntries(watched.map((file) => [file, statSync(path.join(root, file)).size])),
  };
  put(path.join(folder, 'made.json'), JSON.stringify(made));
  rmSync(path.join(folder, FAILED), { force: true });
  prune(assets, new Set([...files, icon.name]), builtAt);
  return { files, metafile: app.metafile };
}

/** A file that is there has this content: its name says so. */
function keep(assets, name, contents) {
  const file = path.join(assets, name);
  if (existsSync(file)) return name;
  if (COMPRESSED.test(name)) {
    put(`${file}.gz`, gzipSync(contents, { level: 9 }));
    put(`${file}.br`, brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
  put(file, contents);
  return name;
}

function keepNamed(assets, from) {
  const contents = readFileSync(from);
  const { name, ext } = path.parse(from);
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8);
  return { from, name: keep(assets, `${name}-${hash}${ext}`, contents) };
}

/** The template names files as `{name.extension}`. */
function pageOf(files) {
  return readFileSync(TEMPLATE, 'utf8').replace(/\{([\w-]+)\.(\w+)\}/g, (_, name, extension) => {
    const file = files.find((each) => each.startsWith(`${name}-`) && each.endsWith(`.${extension}`));
    if (file === undefined) throw new Error(`index.html names ${name}.${extension}, which was not built`);
    return `/assets/${file}`;
  });
}

/** Whole or not at all: others may read it. */
function put(file, content) {
  writeFileSync(`${file}-${process.pid}`, content);
  renameSync(`${file}-${process.pid}`, file);
}

function prune(assets, files, now) {
  for (const name of readdirSync(assets)) {
    const file = path.join(assets, name);
    const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: now };
    if (!files.has(name.replace(/\.(gz|br)$/, '')) && now - mtimeMs > KEPT_MS) rmSync(file, { force: true });
  }
}

function isMade() {
  const file = path.join(CACHE, 'made.json');
  if (!existsSync(file) || existsSync(path.join(CACHE, FAILED))) return false;
  const { builtAt, sizes } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(sizes).every(([name, size]) => {
    const found = statSync(path.join(root, name), { throwIfNoEntry: false });
    return found?.size === size && found.mtimeMs <= builtAt;
  });
}

/** The page says that it failed, until a build succeeds. */
export async function buildIfChanged() {
  if (isMade()) return;
  try {
    await buildConsole();
  } catch (error) {
    mkdirSync(CACHE, { recursive: true });
    put(path.join(CACHE, FAILED), error.message);
    console.error(`gantry: the console was not built: ${error.message}\nThe API works without it.`);
  }
}
