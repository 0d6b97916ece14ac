// Starts a server with compiled code kept between starts. Plain JavaScript that any Node from 16 on can load: the cache
// must be on before the first TypeScript file loads (measured 1,300 ms and 204 MiB without it, 610 ms and 182 MiB with),
// and an older Node has to say what is missing.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const NODE_MAJOR = 26;
const LOOK_MS = 5_000;
const BUSY = 0.05;

/** `main`: the URL of a source file, which is loaded when the server is ready. */
export async function startServer(main) {
  if (!canStart()) return;
  // Loading makes much garbage, for which V8 would take 30 MiB and keep them: measured 163 MiB with this, as fast
  setFlagsFromString('--semi-space-growth-factor=1');
  // Threads use the builtins of V8 where they are instead of mapping them once more each: measured 3 MiB less
  setFlagsFromString('--no-short-builtin-calls');
  await import(await fastest(main));
  setFlagsFromString('--semi-space-growth-factor=2'); // the default
  collectWhenIdle(performance.eventLoopUtilization());
}

/**
 * V8 collects what loading has left when the heap grows, which that of an idle server does not: measured 151 MiB after
 * this. It takes 60 ms, once, and never while the server is busy.
 */
function collectWhenIdle(before) {
  const timer = setTimeout(() => {
    const now = performance.eventLoopUtilization();
    if (performance.eventLoopUtilization(now, before).utilization > BUSY) return collectWhenIdle(now);
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    setFlagsFromString('--no-expose-gc');
  }, LOOK_MS);
  timer.unref();
}

/** Fewer files to load, where `scripts/bundle.mjs` has made them. */
async function fastest(main) {
  const bundle = new URL('../../../node_modules/.cache/bundle/use.mjs', import.meta.url);
  return existsSync(bundle) ? (await import(bundle.href)).fastest(main) : main;
}

/** Whether this Node can run the server; else says what to do. */
function canStart() {
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR) {
    console.error(
      `gantry needs Node ${NODE_MAJOR} or newer; this is ${process.version}.\n` +
        'Next: use `npm start`, `npm run gantry` or `gantry`, which find the Node that comes with Gantry.',
    );
    process.exitCode = 2;
    return false;
  }
  const cache = fileURLToPath(new URL('../../../node_modules/.cache/gantry', import.meta.url));
  process.env.NODE_COMPILE_CACHE ??= cache; // worker threads read the variable
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  return true;
}
