/** A whole surface on a resource: notes of a workspace, for nodes and for people. */
import type { Changes, RecordKind, Stored } from '@gantry/resources';
import { fromEntry, keyOf, missing, workspaceOf } from '@gantry/resources';
import type { Store } from '@gantry/store';
import Type from 'typebox';
import { changed } from '../../calls/change-call.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import { Name } from '../../calls/schema.ts';

interface Note {
  readonly title: string;
  readonly lines: readonly string[];
  readonly archived: boolean;
}

const notes: RecordKind<Note> = { kind: 'note', idPrefix: 'note', boundary: 'workspace', max: 100 };

const Id = { noteId: Name };
const View = {
  noteId: Type.String(),
  title: Type.String(),
  lines: Type.Array(Type.String()),
  archived: Type.Boolean(),
};
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
    create: writes('Adds a note.', { title: Name }, View),
    get: reads('A note.', Id, View, { positional: ['noteId'] }),
    list: reads('The newest notes.', {}, { notes: Type.Array(Type.Object(View)) }),
    append: writes('Adds a line.', { ...Id, line: Type.String() }, View, { positional: ['noteId', 'line'] }),
    archive: writes('Puts a note away.', Id, View),
    remove: writes('Deletes a note.', Id, { deleted: Type.Boolean() }),
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
    async get({ noteId }, { owner: { tenant, workspace } }) {
      const entry = await store.entries.get(keyOf(notes, tenant, noteId));
      if (!entry || workspaceOf(entry) !== workspace) throw missing(notes);
      return viewOf(fromEntry(notes, entry));
    },
    async list(_input, { owner: { tenant, workspace } }) {
      const found = await store.entries.list(notes.kind, tenant, { limit: 20 });
      const own = found.filter((entry) => workspaceOf(entry) === workspace);
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
