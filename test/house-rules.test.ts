import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { checkBackends } from './house/backends.ts';
import { isCode, isTestCode, readProject, root, select } from './house/files.ts';
import { HOUSE } from './house/house.ts';
import { checkImports, checkManifests, type Manifest } from './house/imports.ts';
import { checkLength, type Ratchet, tooLong } from './house/length.ts';
import { checkInputs, checkPurity } from './house/purity.ts';
import { parse, type Trees } from './house/syntax.ts';
import { checkArchitecture, checkCatalogue, checkSyntax, checkText } from './house/wording.ts';
import { checkWrites } from './house/writes.ts';

const files = readProject();
const trees = parse(select(files, isCode));
const rooms = readdirSync(path.join(root, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

const holds = (problems: string[]) => assert.equal(problems.join('\n'), '');
const textOf = (file: string): string => files.get(file) ?? assert.fail(`${file} is missing`);

function treesOf(keep: (file: string) => boolean): Trees {
  const kept = new Map([...trees].filter(([file]) => keep(file)));
  assert.ok(kept.size > 0, 'a rule that sees no file holds nothing');
  return kept;
}

test('imports only point down the house', () => {
  holds(checkImports(trees, HOUSE));
});

test('no backend imports from another', () => {
  holds(checkBackends(treesOf((file) => file.startsWith('packages/surfaces/src/'))));
});

test('manifests name what is imported, and nothing that may not be', () => {
  const manifests = new Map(
    rooms.map((room): [string, Manifest] => [room, JSON.parse(textOf(`packages/${room}/package.json`))]),
  );
  holds(checkManifests(manifests, trees, HOUSE));
});

test('the core neither waits nor reads clocks, dice or the world', () => {
  const isCore = (file: string) => /^packages\/(protocol|engine)\/src\//.test(file) && !isTestCode(file);
  holds(checkPurity(treesOf(isCore)));
});

test('time and chance are inputs of the runtime and the services', () => {
  const isRuntime = (file: string) =>
    /^packages\/host\/src\/(runtime|webhooks|triggers|schedules|heartbeats|dead-letters)\//.test(file) &&
    !isTestCode(file) &&
    !file.endsWith('/clock.ts');
  holds(checkInputs(treesOf(isRuntime)));
});

test('writes of the store are built in few places', () => {
  holds(checkWrites(treesOf((file) => file.startsWith('packages/'))));
});

test('files and functions fit their limits', () => {
  const ratchet: Ratchet = JSON.parse(textOf('test/house/length-ratchet.json'));
  holds(checkLength(tooLong(files, trees), ratchet));
});

test('no leftovers, machine paths or registry hosts', () => {
  // The rules and their samples have to spell out what they forbid.
  holds(checkText(select(files, (file) => !file.startsWith('test/house'))));
});

test('no any, no double casts, no silent skips, no stray printing', () => {
  holds(checkSyntax(trees));
});

test('words of the console are in its catalogue', () => {
  holds(
    checkCatalogue(treesOf((file) => /^packages\/console\/src\/.*\.tsx$/.test(file) && !isTestCode(file))),
  );
});

test('ARCHITECTURE.md names every package', () => {
  holds(checkArchitecture(rooms, files.get('ARCHITECTURE.md') ?? ''));
});
