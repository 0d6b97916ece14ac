import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSchema } from './schema.ts';
import { freshFolder } from './testing/data-dir.ts';

test('a schema version follows the statements, not comments and layout', (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const versionOf = (sql: string): number => {
    const path = join(folder.path, 'schema.sql');
    writeFileSync(path, sql);
    return readSchema(path).version;
  };
  const version = versionOf('create table a (b text);\n');
  assert.equal(versionOf('-- why\ncreate table a (\n  b text);'), versionOf('create table a ( b text);'));
  assert.notEqual(versionOf('create table a (b integer);'), version);
});
