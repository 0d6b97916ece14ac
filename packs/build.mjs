// Turns the WebAssembly text of packs into modules beside it: node packs/build.mjs [folder of packs]
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import loadWabt from 'wabt';

const folder = path.resolve(process.argv[2] ?? import.meta.dirname);
const wabt = await loadWabt();

for (const name of globSync('*/*.wat', { cwd: folder })) {
  const module = wabt.parseWat(name, readFileSync(path.join(folder, name), 'utf8'));
  module.validate();
  const file = name.replace(/\.wat$/, '.wasm');
  writeFileSync(path.join(folder, file), module.toBinary({}).buffer);
  module.destroy();
  process.stdout.write(`${file}\n`);
}
