/** A whole surface on a resource: notes of a workspace, for nodes and for people. */
import type { Changes, RecordKind, Stored } from '@gantry/resources';
import { fromEntry } from '@gantry/resources';
import type { Store } from '@gantry/store';
import Type from 'typebox';
import { callerOf, changed } from '../../calls/change-call.ts';
import { defineSurface, type ImplementedSurface } from '../../calls/define-surface.ts';
import { Name } from '../../calls/schema.ts';

interface Note {
  readonly title: string;
  readonly lines: readonly string[];
  readonly archived: boolean;
}

const notes: RecordKind<Note> = { kind: 'note', idPrefix: 'note', boundary: 'workspace', max: 100 };

const Id = { noteId: Name };
const View = Type.Object({
  noteId: Type.String(),
  title: Type.String(),
  lines: Type.Array(Type.String()),
  archived: Type.Boolean(),
});
const viewOf = ({ id, record: { title, lines, archived } }: Stored<Note>) => ({
  noteId: id,
  title,
  lines: [...lines],
  archived,
});

export const notesSurface = defineSurface({
  capability: 'notes',
  path: 'notes',
  aliases: [],
  summary: 'Notes of the workspace.',
  journal: 'change',
  people: true,
  limits: { maxLines: 100 },
  exceeded: { maxLines: 'validation_error' },
  errors: ['not_found', 'conflict'],
  methods: {
    create: {
      effect: 'write',
      summary: 'Adds a note.',
      input: Type.Object({ title: Name }),
      output: View,
    },
    get: { effect: 'read', summary: 'A note.', input: Type.Object(Id), output: View, positional: ['noteId'] },
    list: {
      effect: 'read',
      summary: 'The newest notes.',
      input: Type.Object({}),
      output: Type.Object({ notes: Type.Array(View) }),
    },
    append: {
      effect: 'write',
      summary: 'Adds a line.',
      input: Type.Object({ ...Id, line: Type.String() }),
      output: View,
      positional: ['noteId', 'line'],
    },
    archive: { effect: 'write', summary: 'Puts a note away.', input: Type.Object(Id), output: View },
    remove: {
      effect: 'write',
      summary: 'Deletes a note.',
      input: Type.Object(Id),
      output: Type.Object({ deleted: Type.Boolean() }),
    },
  },
});

export interface NotesOptions {
  readonly changes: Changes;
  readonly store: Pick<Store, 'entries'>;
}

export function implementNotes({ changes, store }: NotesOptions): ImplementedSurface {
  return notesSurface.implement({
    create: ({ title }, call) =>
      changed(changes, call, async (change) =>
        viewOf(change.create<Note>(notes, { title, lines: [], archived: false })),
      ),
    get: ({ noteId }, call) =>
      changes.run(callerOf(call), async (change) => viewOf(await change.get(notes, noteId))),
    async list(_input, { tenant, workspace }) {
      const found = await store.entries.list(notes.kind, tenant, { limit: 20 });
      const own = found.filter((entry) => entry.workspace === workspace);
      return { notes: own.map((entry) => viewOf(fromEntry(notes, entry))) };
    },
    append: ({ noteId, line }, call) =>
      changed(changes, call, async (change) => {
        const note = await change.get(notes, noteId);
        const lines = [...note.record.lines, line];
        notesSurface.check('maxLines', lines.length);
        return viewOf(change.update(note, { lines }));
      }),
    archive: ({ noteId }, call) =>
      changed(changes, call, async (change) =>
        viewOf(change.update(await change.get(notes, noteId), { archived: true })),
      ),
    remove: ({ noteId }, call) =>
      changed(changes, call, async (change) => {
        const note = await change.find(notes, noteId);
        if (note) change.delete(note);
        return { deleted: note !== null };
      }),
  });
}
