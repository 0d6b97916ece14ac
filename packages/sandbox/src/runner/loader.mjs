/** Loads only the pack's own files; every import, static or dynamic, passes `locate` or `builtin`. */
import { readFileSync, realpathSync } from 'node:fs';
import { builtinModules, registerHooks } from 'node:module';
import { dirname, extname, resolve as resolvePath } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileFunction, SourceTextModule, SyntheticModule } from 'node:vm';
import { builtin } from './builtins.mjs';
import { denied, violate } from './scope.mjs';

const builtinNames = new Set(builtinModules);
const modules = new Map();
const commonJsModules = new Map();
const MODULES_MAX = 1000;
let root = '/';

export function prepareLoader(folder) {
  root = realpathSync(folder);
}

/** Refuses all imports of the default loader, in case V8 uses it for code created from strings. */
export function closeDefaultLoader() {
  registerHooks({
    resolve(specifier) {
      throw denied(`import of ${specifier}`);
    },
  });
}

const isBuiltin = (specifier) => specifier.startsWith('node:') || builtinNames.has(specifier);

function inside(file) {
  let found;
  try {
    found = realpathSync(file);
  } catch {
    found = file;
  }
  if (found.startsWith(`${root}/`)) return found;
  throw violate('host-fs-escape', `the path ${file}`);
}

function locate(specifier, from) {
  if (/^(\.|\/)/.test(specifier)) return inside(resolvePath(dirname(from), specifier));
  if (specifier.startsWith('file:')) return inside(fileURLToPath(specifier));
  if (/^(https?|wss?):/.test(specifier)) throw violate('network-escape', `the import of ${specifier}`);
  if (/^[a-z]+:/.test(specifier)) throw denied(`import of ${specifier.slice(0, 100)}`);
  const error = new Error(`The pack has no module ${specifier}; packs bring their dependencies bundled.`);
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
}

const namesOf = (value) => Object.keys(value ?? {}).filter((name) => name !== 'default');

function synthetic(id, value, names) {
  return new SyntheticModule(
    [...names, 'default'],
    function fill() {
      for (const name of names) this.setExport(name, value[name]);
      this.setExport('default', value);
    },
    { identifier: id },
  );
}

function commonJs(file, source) {
  const module = { exports: {} };
  commonJsModules.set(file, module);
  const require = (specifier) => {
    if (isBuiltin(specifier)) return builtin(specifier);
    const found = locate(specifier, file);
    return commonJsModules.get(found)?.exports ?? commonJs(found, readFileSync(found, 'utf8'));
  };
  if (extname(file) === '.json') {
    module.exports = JSON.parse(source);
    return module.exports;
  }
  const names = ['module', 'exports', 'require', '__filename', '__dirname'];
  const run = compileFunction(source, names, { filename: file, importModuleDynamically: dynamic(file) });
  run(module, module.exports, require, file, dirname(file));
  return module.exports;
}

const dynamic = (from) => async (specifier) => {
  const module = get(`${specifier}`, from);
  await ready(module);
  return module;
};

function make(file) {
  const source = readFileSync(file, 'utf8');
  if (extname(file) === '.json') return synthetic(file, JSON.parse(source), []);
  if (extname(file) === '.cjs') {
    const exported = commonJs(file, source);
    return synthetic(file, exported, namesOf(exported));
  }
  const { href } = pathToFileURL(file);
  return new SourceTextModule(source, {
    identifier: href,
    importModuleDynamically: dynamic(file),
    initializeImportMeta(meta) {
      Object.assign(meta, { url: href, filename: file, dirname: dirname(file) });
    },
  });
}

function get(specifier, from) {
  const id = isBuiltin(specifier) ? `node:${specifier.replace(/^node:/, '')}` : locate(specifier, from);
  const known = modules.get(id);
  if (known) return known;
  if (modules.size >= MODULES_MAX) throw new Error('The pack has too many modules.');
  const module = id.startsWith('node:') ? synthetic(id, builtin(id), namesOf(builtin(id))) : make(id);
  modules.set(id, module);
  return module;
}

async function ready(module) {
  if (module.status === 'unlinked')
    await module.link((specifier, { identifier }) =>
      get(specifier, identifier.startsWith('file:') ? fileURLToPath(identifier) : identifier),
    );
  await module.evaluate();
}

/** The namespace of the entry; for CommonJS its `module.exports`. */
export async function load(entry, isCommonJs) {
  const file = inside(resolvePath(root, entry));
  if (isCommonJs) return commonJs(file, readFileSync(file, 'utf8'));
  const module = get(file, file);
  await ready(module);
  return module.namespace;
}
