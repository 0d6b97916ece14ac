// Turns the WebAssembly text of packs into modules beside it: node packs/build.mjs [folder of packs]
// Runs on any Node from 16 on.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import loadWabt from 'wabt';

const folder = path.resolve(process.argv[2] ?? path.dirname(fileURLToPath(import.meta.url)));
const wabt = await loadWabt();

const filesIn = (pack) => readdirSync(path.join(folder, pack)).map((file) => path.join(pack, file));
const packs = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());

for (const name of packs.flatMap((pack) => filesIn(pack.name)).filter((file) => file.endsWith('.wat'))) {
  const module = wabt.parseWat(name, readFileSync(path.join(folder, name), 'utf8'));
  module.validate();
  const file = name.replace(/\.wat$/, '.wasm');
  writeFileSync(path.join(folder, file), module.toBinary({}).buffer);
  module.destroy();
  process.stdout.write(`${file}\n`);
}
