/** Boards with chosen ids, and their tasks: a parent, filters and changes of fields. */
import { closedObject, OpenwopError, optional, wire } from '@gantry/protocol';
import Type from 'typebox';
import { resource } from '../resource.ts';

const SCOPES = { read: ['runs:read'], write: ['runs:create'] } as const;
const Name = Type.String({ minLength: 1, maxLength: 64 });

export const boardsWire = wire(
  { path: 'boards', id: 'boardId' },
  {
    about: 'Hold tasks',
    scopes: SCOPES,
    input: closedObject({ boardId: Name, title: Name }),
    update: closedObject({ title: optional(Name), team: optional(Name) }),
    view: Type.Object({ boardId: Type.String(), title: Type.String(), updatedBy: optional(Type.String()) }),
    by: ['team'],
    feed: true,
    methods: {},
  },
);

export interface Board {
  readonly title: string;
  readonly team: string;
}

export const boards = resource<typeof boardsWire, Board>(boardsWire, {
  kind: 'board',
  idPrefix: 'board',
  boundary: 'workspace',
  isParent: true,
  max: 2,
  unique: ['title'],
  index: { title: ({ title }) => title, team: ({ team }) => team },
  idOf: ({ boardId }) => boardId,
  create: ({ title }) => ({ title, team: 'none' }),
  update: (board, fields) => ({ ...board, ...fields }),
  verbs: {},
  show: ({ id, record: { title }, updated }) => ({
    boardId: id,
    title,
    ...(updated && { updatedBy: updated.by }),
  }),
});

export const tasksWire = wire(
  { path: 'tasks', id: 'taskId' },
  {
    about: 'Something to do',
    scopes: SCOPES,
    input: closedObject({ boardId: Name, title: Name }),
    view: Type.Object({ taskId: Type.String(), boardId: Type.String(), title: Type.String() }),
    by: ['title'],
    parent: boardsWire.table,
    methods: {},
  },
);

export interface Task {
  readonly boardId: string;
  readonly title: string;
}

export const tasks = resource<typeof tasksWire, Task>(tasksWire, {
  kind: 'task',
  idPrefix: 'task',
  boundary: 'workspace',
  parent: boards,
  max: 10_000,
  index: { boardId: ({ boardId }) => boardId, title: ({ title }) => title },
  create: ({ boardId, title }) => ({ boardId, title }),
  verbs: {},
  remove: ({ title }) => {
    if (title === 'kept') throw new OpenwopError('conflict', { message: 'It is kept.' });
  },
  show: ({ id, record }) => ({ taskId: id, ...record }),
});
