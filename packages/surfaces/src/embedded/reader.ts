/** The reader thread: its own connection, so that a long listing never holds up a write. */
import type { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import type { Operations } from './area.ts';
import { areasOf, factsOf, type OpenFile } from './database-files.ts';
import { openForReading } from './open-file.ts';
import { failure, serve } from './serve.ts';
import type { Answer, Request } from './wire.ts';

const prepare = (database: DatabaseSync, file: OpenFile): Map<string, Operations> =>
  new Map(Object.entries(areasOf(file)).map(([name, area]) => [name, area.reads(database)]));

function answer(areas: ReadonlyMap<string, Operations>, { area, name, args }: Request): Answer {
  try {
    return { kind: 'done', value: areas.get(area)?.[name]?.(...(args as never[])) };
  } catch (error) {
    return failure(error);
  }
}

const file = workerData as OpenFile;
serve(() => {
  const database = openForReading(factsOf(file));
  const areas = prepare(database, file);
  return {
    answer: (requests) => requests.map((request) => answer(areas, request)),
    close: () => database.close(),
  };
});
