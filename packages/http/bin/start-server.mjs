// Starts a server with compiled code kept between starts. Plain JavaScript that any Node from 16 on can load: the cache
// must be on before the first TypeScript file loads (measured 850 ms and 177 MB without it, 600 ms and 134 MB with),
// and an older Node has to be told what is missing.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 26;

/** Whether this Node can run the server; else says what to do. */
export function canStart() {
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
