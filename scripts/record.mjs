// Records what the project does, so that a change which should alter nothing can be held against it.
// npm run record -- --out FILE [--against FILE] [FOLDER]
// FOLDER has more workflow definitions, such as the public fixtures. One JSON line for each workflow and call.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createNormaliser, differences } from './record/normalise.ts';
import { randomDefinitions, readAll, recordEngine, recordRuns, samples } from './record/runs.mjs';
import { recordSurfaces } from './record/surfaces.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string' }, against: { type: 'string' } },
});
if (values.out === undefined) {
  console.error('Usage: npm run record -- --out FILE [--against FILE] [FOLDER]');
  process.exit(2);
}
const root = path.resolve(import.meta.dirname, '..');
const definitions = [...samples(root), ...positionals.flatMap(readAll)];
const PARTS = {
  run: recordRuns(root, definitions),
  random: recordRuns(root, randomDefinitions()),
  engine: recordEngine(),
  surface: recordSurfaces(),
};

const lines = [];
for (const [part, recorded] of Object.entries(PARTS)) {
  let normalise = createNormaliser(Date.now());
  for await (const [of, is] of recorded) {
    // The answers of surfaces refer to each other; runs do not
    if (part !== 'surface') normalise = createNormaliser(Date.now());
    lines.push(`${JSON.stringify({ part, of, is: normalise(is) ?? null })}\n`);
  }
}
const recording = lines.join('');
writeFileSync(values.out, recording);
console.log(`${lines.length} lines in ${values.out}`);
if (values.against !== undefined) {
  const found = differences(readFileSync(values.against, 'utf8'), recording);
  for (const line of found) console.log(line);
  console.log(found.length === 0 ? 'No difference.' : `Differs from ${values.against}.`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
