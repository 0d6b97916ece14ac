import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** What the core may import, and why. */
const ALLOWED = new Map([
  ['@gantry/protocol', 'the shapes of the wire'],
  ['@marcbachmann/cel-js', 'parses expressions, in expression-ast.ts only'],
  ['re2js', 'linear-time patterns, in regex.ts only'],
]);
const ONLY_IN: Record<string, string> = { '@marcbachmann/cel-js': 'expression-ast.ts', re2js: 'regex.ts' };

const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing'),
);

test('the core imports nothing that could act, wait or tell the time', () => {
  assert.ok(sources.length > 30);
  for (const file of sources) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/from '([^']+)'/g)) {
      if (name.startsWith('.')) continue;
      assert.ok(ALLOWED.has(name), `${file} imports ${name}`);
      assert.ok(ONLY_IN[name] === undefined || ONLY_IN[name] === file, `${file} imports ${name}`);
    }
    assert.doesNotMatch(
      text,
      /\bawait\b|\basync\b|Date\.now|new Date\(\)|Math\.random|performance\.|process\./,
      file,
    );
  }
});
