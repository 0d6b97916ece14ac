// Starts the registry with compiled code kept between starts. Plain JavaScript, because the cache must be on
// before the first TypeScript file loads.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/gantry', import.meta.url));
process.env.NODE_COMPILE_CACHE ??= cache; // worker threads read the variable
enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import('../src/main.ts');
