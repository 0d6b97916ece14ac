import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { COMMANDS } from './commands/index.ts';

test('docs/cli.md has a line for every command, and no other', async () => {
  const text = await readFile(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const section = text.split('## Commands')[1]?.split('\n## ')[0] ?? '';
  const documented = [...section.matchAll(/^\| `([a-z-]+)/gm)].map((match) => match[1]);
  assert.deepEqual(documented, [...COMMANDS.map(({ name }) => name), 'help']);
});
