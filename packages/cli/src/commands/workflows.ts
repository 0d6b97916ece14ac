import path from 'node:path';
import type { Call, Command } from '../command.ts';
import { EXIT, UsageError } from '../io.ts';
import { table } from '../style.ts';
import { didYouMean } from '../suggest.ts';
import { readJson } from './run.ts';

type Action = (call: Call, word: string) => Promise<void>;

const print = ({ io }: Call, value: unknown) => io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

const ACTIONS: Readonly<Record<string, { takes?: string; act: Action }>> = {
  ls: {
    async act(call) {
      const all = await call.client.workflows.list();
      if (call.args.flag('json')) return print(call, all);
      const rows = all.map((w) => [w.workflowId, w.version, w.shared ? 'shared' : 'own', w.name]);
      call.io.stdout.write(
        all.length === 0
          ? 'No workflows yet. Register one: gantry workflows register FILE\n'
          : table(['WORKFLOW', 'VERSION', 'FROM', 'NAME'], rows),
      );
    },
  },
  show: { takes: '<id>', act: async (call, id) => print(call, await call.client.workflows.get(id)) },
  versions: {
    takes: '<id>',
    async act(call, id) {
      const all = await call.client.workflows.versions(id);
      if (call.args.flag('json')) return print(call, all);
      const rows = all.map((version) => [version.version, version.registeredAt, version.hash]);
      call.io.stdout.write(table(['VERSION', 'REGISTERED', 'HASH'], rows));
    },
  },
  register: {
    takes: '<file>',
    async act(call, file) {
      const definition = await readJson(path.resolve(call.io.cwd, file));
      const made = await call.client.workflows.register(definition);
      if (call.args.flag('json')) return print(call, made);
      call.io.stdout.write(
        `${made.workflowId} ${made.version} ${made.hash}\nRun it: gantry run ${made.workflowId} --watch\n`,
      );
    },
  },
};

export const workflows: Command = {
  name: 'workflows',
  summary: 'list, show and register workflows',
  usage: 'workflows [ls | show <id> | versions <id> | register <file>] [--json]',
  options: { json: { type: 'boolean', text: 'print JSON' } },
  examples: ['gantry workflows', 'gantry workflows register ./flows/report.json'],
  words: { min: 0, max: 2 },
  async run(call) {
    const [name = 'ls', word] = call.args.words;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!action) {
      throw new UsageError(`gantry workflows cannot "${name}".${didYouMean(name, Object.keys(ACTIONS))}`);
    }
    if (action.takes && word === undefined) {
      throw new UsageError(`Usage: gantry workflows ${name} ${action.takes}`);
    }
    await action.act(call, word ?? '');
    return EXIT.ok;
  },
};
