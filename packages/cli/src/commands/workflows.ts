import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { yamlOf } from '@gantry/packs';
import { shortWorkflow } from '@gantry/protocol';
import { type Actions, actionCommand } from '../actions.ts';
import { type Call, flag, option } from '../command.ts';
import { EXIT, UsageError } from '../io.ts';
import { print, printJson } from '../output.ts';
import { printable } from '../style.ts';
import { readChoice, readFileSource, readJson } from '../values.ts';

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
  show: { takes: '<id>', act: (call, id = '') => show(call, id) },
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

async function show(call: Call, id: string): Promise<void> {
  const definition = await call.client.workflows.get(id);
  if (isYaml(call)) call.io.stdout.write(await yamlOf(shortWorkflow(definition)));
  else printJson(call, definition);
}

const isYaml = ({ args }: Call): boolean =>
  readChoice(args.text('format'), { known: ['json', 'yaml'], noun: 'format' }) === 'yaml';

const starter = (id: string) => ({
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

async function writeNew(call: Call, id: string): Promise<void> {
  const { io, args } = call;
  if (!ID.test(id))
    throw new UsageError(
      `"${id}" is not an id: use lower-case letters, digits, - and _, beginning with a letter.`,
    );
  const schema = new URL(SCHEMA, call.settings.url).href;
  const file = `${id}.${isYaml(call) ? 'yaml' : 'json'}`;
  // Editors load the schema from the host
  const text = isYaml(call)
    ? `# yaml-language-server: $schema=${schema}\n${await yamlOf(starter(id))}`
    : `${JSON.stringify({ $schema: schema, ...starter(id) }, null, 2)}\n`;
  try {
    await writeFile(path.resolve(io.cwd, file), text, { flag: 'wx' });
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
  const { value, positionOf } = await readFileSource(path.resolve(call.io.cwd, file));
  const found = await call.client.workflows.check(value);
  const lines = found.issues.map(({ path: at, nodeId, edgeId, severity, message, fix = '' }) => {
    const part = nodeId === undefined ? edgeId && `edge ${edgeId}` : `node ${nodeId}`;
    const where = part ? `${part} (${at})` : at || '/';
    const { line, column } = positionOf(at);
    const words = printable(`${severity}: ${where}: ${message.replace(/\.$/, '')}. ${fix}`.trimEnd());
    return `${file}:${line}:${column}: ${words}\n`;
  });
  const isFine = found.valid && !(call.args.flag('strict') && found.issues.length > 0);
  print(call, found, lines.join('') + (found.valid ? `${file} is valid.\n` : ''));
  return isFine ? undefined : EXIT.failed;
}

export const workflows = actionCommand({
  name: 'workflows',
  summary: 'write, check, register, list and delete workflows',
  usage:
    'workflows [ls | new <id> | check <file> | register <file> | show <id> | versions <id> | delete <id>] [--replace] [--format F] [--strict] [--json]',
  details: 'A file is JSON, or YAML if its name ends in .yaml or .yml.',
  options: {
    json: flag('print JSON'),
    format: option('F', 'json (default) or yaml, of a definition', { of: ['new', 'show'] }),
    strict: flag('exit with 1 for warnings too', { of: ['check'] }),
    replace: flag('replace a registered version, or a higher one', { of: ['register'] }),
  },
  examples: [
    'gantry workflows',
    'gantry workflows new report',
    'gantry workflows show report --format yaml > report.yaml',
    'gantry workflows check ./report.json',
    'gantry workflows register ./report.json',
  ],
  actions: ACTIONS,
});
