/** What runs inside Redis: a file of Lua each, after the files that it builds on. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Read when first used: most hosts have no Redis. */
export type Script = () => { readonly lua: string; readonly sha1: string };

function scriptOf(...names: string[]): Script {
  let script: ReturnType<Script> | undefined;
  return () => {
    script ??= read(names);
    return script;
  };
}

const overEntries = (...names: string[]): Script => scriptOf('entries', ...names);

function read(names: readonly string[]): ReturnType<Script> {
  const lua = names
    .map((name) => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8'))
    .join('\n');
  return { lua, sha1: hash('sha1', lua) };
}

export const SCRIPTS = {
  kvPut: overEntries('call', 'room', 'kv-put'),
  kvDelete: overEntries('call', 'kv-delete'),
  kvIncrement: overEntries('call', 'room', 'kv-increment'),
  kvCompareAndSwap: overEntries('call', 'room', 'kv-compare-and-swap'),
  kvList: overEntries('kv-list'),
  cacheGet: overEntries('cache-get'),
  cachePut: overEntries('call', 'trim', 'cache-put'),
  cacheTrim: overEntries('trim', 'cache-trim'),
  cacheEvict: overEntries('call', 'cache-evict'),
  sweep: overEntries('sweep'),
  rights: scriptOf('rights'),
} as const;
