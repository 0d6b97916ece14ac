/** Answers reads of a database file, in a thread or in a process. */
import type { DatabaseSync } from 'node:sqlite';
import { type Answer, failure } from '../refusal.ts';
import { areasOf, factsOf, type OpenFile } from './database-files.ts';
import { openForReading } from './open-file.ts';
import type { Server } from './serve.ts';
import type { Operations } from './statements.ts';
import type { Asked } from './wire.ts';

export const openReads = (file: OpenFile): Server => readsOf(openForReading(factsOf(file)), file);

export function readsOf(database: DatabaseSync, file: OpenFile): Server {
  const areas = new Map<string, Operations>(
    Object.entries(areasOf(file)).map(([name, area]) => [name, area.reads(database)]),
  );
  const answer = ({ area, name, args }: Asked): Answer => {
    try {
      return { kind: 'done', value: areas.get(area)?.[name]?.(...(args as never[])) };
    } catch (error) {
      return failure(error);
    }
  };
  return { answer: (requests) => requests.map(answer), close: () => database.close() };
}
