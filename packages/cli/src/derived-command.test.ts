import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { closedObject, optional, wire } from '@gantry/protocol';
import Type from 'typebox';
import { readArgs } from './args.ts';
import { derivedCommand } from './derived-command.ts';
import { commandHelp } from './help.ts';
import { styleFor } from './style.ts';
import { memoryIo } from './testing/test-host.ts';

const notesWire = wire(
  { path: 'notes', id: 'noteId', item: { append: 'write', size: 'read' }, all: { tidy: 'write' } },
  {
    about: 'Write notes',
    scopes: { read: ['runs:read'], write: ['runs:create'] },
    input: closedObject({
      title: Type.String(),
      url: optional(Type.String()),
      stars: optional(Type.Integer()),
      isPinned: optional(Type.Boolean()),
      mood: optional(Type.Enum(['good', 'bad'])),
      labels: optional(Type.Array(Type.String())),
      meta: optional(closedObject({})),
    }),
    view: Type.Object({ noteId: Type.String(), title: Type.String() }),
    columns: { NOTE: 'noteId', TITLE: 'title' },
    update: closedObject({ title: optional(Type.String()), stars: optional(Type.Integer()) }),
    by: ['mood', 'folderId'],
    methods: {
      append: { about: 'Add a line', in: closedObject({ line: Type.String() }) },
      size: { about: 'Count its lines', in: closedObject({}), out: Type.Object({ lines: Type.Integer() }) },
      tidy: {
        about: 'Remove empty ones',
        in: closedObject({}),
        out: Type.Object({ removed: Type.Integer() }),
      },
    },
  },
);

const command = derivedCommand(notesWire);

const said = (...argv: string[]): Promise<string> => saidBy({ notes: [note] }, ...argv);

const note = { noteId: 'note_1', title: 'a' };

/** What the command line prints for this list, and how it called the client. */
async function saidBy(listed: object, ...argv: string[]): Promise<string> {
  const { io, out } = memoryIo();
  const calls: unknown[][] = [];
  const answering =
    (method: string, answer: unknown) =>
    async (...args: unknown[]) => {
      calls.push([method, ...args]);
      return answer;
    };
  const notes = {
    list: answering('list', listed),
    get: answering('get', note),
    create: answering('create', note),
    update: answering('update', note),
    remove: answering('remove', note),
    append: answering('append', note),
    size: answering('size', { lines: 3 }),
    tidy: answering('tidy', { removed: 1 }),
  };
  const args = readArgs(command, argv);
  const call = { args, io, style: styleFor(io), settings: {}, client: { notes } };
  await Reflect.apply(command.run, command, [call]);
  return `${JSON.stringify(calls)} ${out.text}`;
}

test('a wire with columns is a command: list, show, add, remove and its methods', async () => {
  const listed = 'NOTE    TITLE\nnote_1  a\n';
  assert.equal(await said(), `[["list",{"limit":50}]] ${listed}`);
  assert.equal(
    await said('ls', '--limit', '2', '--before', 'x'),
    `[["list",{"limit":2,"before":"x"}]] ${listed}`,
  );
  assert.match(await said('show', 'note_1'), /^\[\["get","note_1"\]\] \{\n {2}"noteId"/);
  assert.equal(await said('rm', 'note_1'), '[["remove","note_1"]] note_1 removed\n');
  assert.equal(
    await said('append', 'note_1', '--line', '3'),
    '[["append","note_1",{"line":"3"}]] note_1 changed\n',
  );
  assert.match(await said('size', 'note_1'), /^\[\["size","note_1",\{\}\]\] \{\n {2}"lines": 3\n\}/);
  assert.match(await said('tidy'), /^\[\["tidy",\{\}\]\] \{\n {2}"removed": 1\n\}/);
});

test('fields become what their schema says; those without an option come from a file', async (t) => {
  const fields = ['--title', '7', '--stars', '7', '--is-pinned', 'false', '--mood', 'good', '--labels', 'a'];
  assert.equal(
    await said('add', ...fields, '--labels', 'b'),
    '[["create",{"title":"7","stars":7,"isPinned":false,"mood":"good","labels":["a","b"]}]] note_1 added\n',
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'note.json');
  writeFileSync(file, '{ "url": "https://example.com", "meta": {}, "title": "from the file" }');
  assert.equal(
    await said('add', '--from', file, '--title', 'a', '--json'),
    '[["create",{"url":"https://example.com","meta":{},"title":"a"}]] {\n  "noteId": "note_1",\n  "title": "a"\n}\n',
  );
  const refusals: [string[], RegExp][] = [
    [['--stars', '1.5'], /--stars takes a whole number, not "1\.5"/],
    [['--stars', ''], /--stars takes a whole number/],
    [['--is-pinned', 'yes'], /no --is-pinned "yes".*true, false/],
    [['--mood', 'god'], /no --mood "god".*good/],
    [['--title', 'a', '--title', 'b'], /Give --title once/],
  ];
  for (const [options, why] of refusals) await assert.rejects(said('add', ...options), why);
});

test('fields are changed by set, and lists take one filter', async () => {
  assert.equal(
    await said('set', 'note_1', '--title', 'b', '--stars', '3'),
    '[["update","note_1",{"title":"b","stars":3}]] note_1 changed\n',
  );
  await assert.rejects(said('set', 'note_1'), /Say what to change: --title, --stars\./);
  const more = { notes: [], nextBefore: 'note_1' };
  assert.match(await said('ls', '--mood', 'good'), /^\[\["list",\{"limit":50,"mood":"good"\}\]\]/);
  assert.match(
    await saidBy(more, 'ls', '--folder-id', 'my folder'),
    /More: gantry notes ls --folder-id 'my folder' --before note_1\n$/,
  );
  await assert.rejects(
    said('ls', '--mood', 'good', '--folder-id', 'a'),
    /one filter at a time: --mood, --folder-id/,
  );
});

test('its help names the options with the actions that take them', () => {
  const help = commandHelp(command);
  assert.match(
    help,
    /^Write notes\.\n\nUsage: gantry notes \[ls \| add \| show <noteId> \| rm <noteId> \| set <noteId> \|/,
  );
  assert.match(help, /append <noteId> \| size <noteId> \| tidy\]/);
  assert.match(help, /--title TEXT +add, set: its title\n/);
  assert.match(help, /--line TEXT +append: its line\n/);
  assert.match(help, /--mood CHOICE +ls, add: good, bad\n/);
  assert.match(help, /--from FILE +add: a JSON file/);
  assert.match(help, /--url URL +the host/, 'a field does not take the place of an option of all commands');
});
