import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Actions, actionCommand } from '../actions.ts';
import { type Call, flag } from '../command.ts';
import { EXIT, UsageError } from '../io.ts';
import { print, printJson } from '../output.ts';
import { printable } from '../style.ts';
import { readJson } from '../values.ts';

const ACTIONS: Actions = {
  ls: {
    async act(call) {
      const all = await call.client.workflows.list();
      print(call, all, {
        items: all,
        columns: {
          WORKFLOW: 'workflowId',
          VERSION: 'version',
          FROM: ({ shared }) => (shared ? 'shared' : 'own'),
          NAME: 'name',
        },
        none: 'No workflows yet. Register one: gantry workflows register FILE',
      });
    },
  },
  new: { takes: '<id>', act: (call, id = '') => writeNew(call, id) },
  check: { takes: '<file>', act: (call, file = '') => checkFile(call, file) },
  show: { takes: '<id>', act: async (call, id = '') => printJson(call, await call.client.workflows.get(id)) },
  versions: {
    takes: '<id>',
    async act(call, id = '') {
      const all = await call.client.workflows.versions(id);
      print(call, all, {
        items: all,
        columns: { VERSION: 'version', REGISTERED: 'registeredAt', HASH: 'hash' },
        none: 'No versions.',
      });
    },
  },
  delete: {
    takes: '<id>',
    async act(call, id = '') {
      const deleted = await call.client.workflows.delete(id);
      print(call, deleted, `${id} deleted. Its runs stay: gantry runs --workflow ${id}\n`);
    },
  },
  register: {
    takes: '<file>',
    async act(call, file = '') {
      const definition = await readJson(path.resolve(call.io.cwd, file));
      const made = await call.client.workflows.register(definition, { replace: call.args.flag('replace') });
      const { workflowId, version, hash, current } = made;
      const kept = current ? '' : 'A higher version stays current; --replace makes this one current.\n';
      print(
        call,
        made,
        `${workflowId} ${version} ${hash}\n${kept}Run it: gantry run ${workflowId} --watch\n`,
      );
    },
  },
};

/** A starter file; editors load its schema from the host. */
const starter = (id: string, schema: string) => ({
  $schema: schema,
  id,
  name: id,
  version: '1.0.0',
  variables: [{ name: 'name', type: 'string', defaultValue: 'world' }],
  nodes: [
    { id: 'start', typeId: 'core.start', name: 'Start' },
    {
      id: 'greet',
      typeId: 'core.end',
      name: 'Greet',
      inputs: { greeting: { type: 'expression', expression: "'Hello, ' + variables.name + '!'" } },
    },
  ],
  edges: [{ id: 'start-greet', sourceNodeId: 'start', targetNodeId: 'greet' }],
});

const SCHEMA = '/v1/host/gantry/workflow-schema.json';
const ID = /^[a-z][a-z0-9_-]{0,127}$/;

async function writeNew({ io, settings, args }: Call, id: string): Promise<void> {
  if (!ID.test(id))
    throw new UsageError(
      `"${id}" is not an id: use lower-case letters, digits, - and _, beginning with a letter.`,
    );
  const file = `${id}.json`;
  const text = JSON.stringify(starter(id, new URL(SCHEMA, settings.url).href), null, 2);
  try {
    await writeFile(path.resolve(io.cwd, file), `${text}\n`, { flag: 'wx' });
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw exists ? new UsageError(`${file} exists already. Choose another id.`) : error;
  }
  if (args.flag('json')) io.stdout.write(`${JSON.stringify({ file })}\n`);
  else
    io.stdout.write(
      `${file}\nCheck it: gantry workflows check ${file}\nRun it: gantry run ./${file} --watch\n`,
    );
}

async function checkFile(call: Call, file: string): Promise<number | undefined> {
  const found = await call.client.workflows.check(await readJson(path.resolve(call.io.cwd, file)));
  const lines = found.issues.map(({ path: at, nodeId, message }) => {
    const where = nodeId === undefined ? at || '/' : `node ${nodeId} (${at})`;
    return `${file}: ${printable(`${where}: ${message}`)}\n`;
  });
  print(call, found, found.valid ? `${file} is valid.\n` : lines.join(''));
  return found.valid ? undefined : EXIT.failed;
}

export const workflows = actionCommand({
  name: 'workflows',
  summary: 'write, check, register, list and delete workflows',
  usage:
    'workflows [ls | new <id> | check <file> | register <file> | show <id> | versions <id> | delete <id>] [--replace] [--json]',
  options: {
    json: flag('print JSON'),
    replace: flag('replace a registered version, or a higher one', { of: ['register'] }),
  },
  examples: [
    'gantry workflows',
    'gantry workflows new report',
    'gantry workflows check ./report.json',
    'gantry workflows register ./report.json',
  ],
  actions: ACTIONS,
});
