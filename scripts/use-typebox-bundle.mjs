// `bundle-typebox.mjs` copies this beside the files that it makes. Imports of the thread that loads it get those files,
// unless they are of another version than what is installed.
import { readFileSync } from 'node:fs';
import module from 'node:module';

const versionIn = (folder) =>
  JSON.parse(readFileSync(new URL(`${folder}/package.json`, import.meta.url))).version;
const NAMES = /^typebox(?:\/(error|format|schema|system))?$/;

if (versionIn('.') === versionIn('../../typebox')) {
  module.registerHooks({
    resolve(name, context, next) {
      const found = NAMES.exec(name);
      if (!found) return next(name, context);
      const { href: url } = new URL(`./${found[1] ? `${found[1]}/` : ''}index.mjs`, import.meta.url);
      return { url, format: 'module', shortCircuit: true };
    },
  });
}
