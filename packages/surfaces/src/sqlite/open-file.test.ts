import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshFolder } from '../testing/data-dir.ts';
import { matchesGolden } from '../testing/golden.ts';
import { type FileName, factsOf } from './database-files.ts';
import { openForWriting, SCHEMA_VERSION, versionOf } from './open-file.ts';

const FILES = ['surfaces', 'retrieval', 'search'] as const satisfies readonly FileName[];

for (const file of FILES)
  test(`the schema of ${file} equals its golden dump, and another version is refused`, (t) => {
    const folder = freshFolder();
    t.after(folder.remove);
    const facts = factsOf({ file, dataDir: folder.path, extensions: [] }, 'acme');
    const database = openForWriting(facts);
    assert.equal(versionOf(database), SCHEMA_VERSION);
    const rows = database
      .prepare('select sql from sqlite_schema where sql is not null order by type, name')
      .all();
    const dump = rows.map(({ sql }) => `${sql};\n`).join('');
    matchesGolden(`${file}.sqlite.sql`, `-- Schema version ${SCHEMA_VERSION}\n${dump}`);
    for (const other of [1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1]) {
      database.exec(`pragma user_version = ${other}`);
      assert.throws(() => openForWriting(facts), {
        message: `${facts.path} has schema version ${other}, and this version of Gantry uses ${SCHEMA_VERSION}; there is no upgrade before the first release, so start the version that wrote it or use an empty data folder.`,
      });
    }
    database.close();
  });
