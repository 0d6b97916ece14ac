import path from 'node:path';
import { type Actions, runAction, wordsMax } from '../actions.ts';
import { type Command, flag } from '../command.ts';
import { print, printJson } from '../output.ts';
import { readJson } from '../values.ts';

const ACTIONS: Actions = {
  ls: {
    async act(call) {
      const all = await call.client.workflows.list();
      print(call, all, {
        headings: ['WORKFLOW', 'VERSION', 'FROM', 'NAME'],
        rows: all.map((w) => [w.workflowId, w.version, w.shared ? 'shared' : 'own', w.name]),
        none: 'No workflows yet. Register one: gantry workflows register FILE',
      });
    },
  },
  show: { takes: '<id>', act: async (call, id = '') => printJson(call, await call.client.workflows.get(id)) },
  versions: {
    takes: '<id>',
    async act(call, id = '') {
      const all = await call.client.workflows.versions(id);
      print(call, all, {
        headings: ['VERSION', 'REGISTERED', 'HASH'],
        rows: all.map(({ version, registeredAt, hash }) => [version, registeredAt, hash]),
        none: 'No versions.',
      });
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

export const workflows: Command = {
  name: 'workflows',
  summary: 'list, show and register workflows',
  usage: 'workflows [ls | show <id> | versions <id> | register <file>] [--replace] [--json]',
  options: {
    json: flag('print JSON'),
    replace: flag('take the place of a registered version, or of a higher one'),
  },
  examples: ['gantry workflows', 'gantry workflows register ./flows/report.json'],
  words: { min: 0, max: wordsMax(ACTIONS) },
  run: (call) => runAction('workflows', ACTIONS, call),
};
