// `bundle.mjs` copies this beside the folder of files that it makes. Code that has changed since is loaded from source.
import { readFileSync, statSync } from 'node:fs';
import module from 'node:module';

const MADE = JSON.parse(readFileSync(new URL('made.json', import.meta.url), 'utf8'));
const ROOT = new URL('../../../', import.meta.url);
const inBundle = (name) => new URL(`${MADE.builtAt}/${name}.mjs`, import.meta.url).href;

function isUnchanged(file, size) {
  const found = statSync(new URL(file, ROOT), { throwIfNoEntry: false });
  return found !== undefined && found.size === size && found.mtimeMs <= MADE.builtAt;
}

const typeboxVersion = () =>
  JSON.parse(readFileSync(new URL('node_modules/typebox/package.json', ROOT), 'utf8')).version;
const isTypeboxFresh = typeboxVersion() === MADE.typebox;

export const isFresh = () =>
  isTypeboxFresh && Object.entries(MADE.sizes).every(([file, size]) => isUnchanged(file, size));

/** What to import instead of a source file that is an entry of the bundle. */
export function fastest(source) {
  const [, file] = /\/packages\/([^?]+)\.ts$/.exec(source) ?? [];
  return file && isFresh() ? inBundle(file.replaceAll('/', '-')) : source;
}

const TYPEBOX = /^typebox(?:\/(error|format|schema|system))?$/;

/** For tests, and for code that runs from source. */
if (isTypeboxFresh)
  module.registerHooks?.({
    resolve(name, context, next) {
      const found = TYPEBOX.exec(name);
      if (!found) return next(name, context);
      const url = inBundle(`typebox-${found[1] ? `${found[1]}-` : ''}index`);
      return { url, format: 'module', shortCircuit: true };
    },
  });
