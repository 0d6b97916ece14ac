/** What runs inside Redis: a file of Lua each, after the files that it builds on. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Read when first used: most hosts have no Redis. */
export type Script = () => { readonly lua: string; readonly sha1: string };

function scriptOf(...names: string[]): Script {
  let script: ReturnType<Script> | undefined;
  return () => {
    script ??= read(['entries', ...names]);
    return script;
  };
}

function read(names: readonly string[]): ReturnType<Script> {
  const lua = names
    .map((name) => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8'))
    .join('\n');
  return { lua, sha1: hash('sha1', lua) };
}

export const SCRIPTS = {
  kvPut: scriptOf('call', 'room', 'kv-put'),
  kvDelete: scriptOf('call', 'kv-delete'),
  kvIncrement: scriptOf('call', 'room', 'kv-increment'),
  kvCompareAndSwap: scriptOf('call', 'room', 'kv-compare-and-swap'),
  kvList: scriptOf('kv-list'),
  cacheGet: scriptOf('cache-get'),
  cachePut: scriptOf('call', 'trim', 'cache-put'),
  cacheTrim: scriptOf('trim', 'cache-trim'),
  cacheEvict: scriptOf('call', 'cache-evict'),
  sweep: scriptOf('sweep'),
} as const;
