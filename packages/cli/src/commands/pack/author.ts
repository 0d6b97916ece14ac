/** Commands for authors before publication; they need no host. */
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readManifest } from '@gantry/packs';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { readChoice, shellWord } from '../../values.ts';
import { checkPack } from './check.ts';
import { countOf, FaultyPack, isError, printFaults } from './fault.ts';
import { LANGUAGES, scaffoldFiles, writeFiles } from './scaffold.ts';
import { archiveName, type BuiltPack, buildOf, packLabel } from './source.ts';
import { COUNTING, GREETING } from './templates.ts';

async function isEmpty(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.length === 0;
}

export const create: Action = {
  takes: '<name> [--storage] [--language L]',
  async act({ args, io }, name = '') {
    const template = args.flag('storage') ? COUNTING : GREETING;
    const language = readChoice(args.text('language'), { known: LANGUAGES, noun: 'language' });
    const files = await scaffoldFiles(name, template, language ?? 'javascript');
    if (readManifest(files['pack.json']).kind === 'refused') {
      throw new UsageError(
        `"${name}" is not a pack name. It has a scope, an owner and a name, such as vendor.acme.greeter; ` +
          'packs that stay on this machine begin with local.',
      );
    }
    const folder = path.resolve(io.cwd, args.text('out') ?? name.slice(name.lastIndexOf('.') + 1));
    if (!(await isEmpty(folder))) throw new UsageError(`${folder} is not empty. Choose another with --out.`);
    await writeFiles(folder, files);
    const word = shellWord(path.relative(io.cwd, folder));
    const inputs = Object.entries(template.example).map(([input, value]) => `--input ${input}=${value}`);
    io.stdout.write(
      `${name} is in ${word}\n\nNext, with a host running:\n` +
        `  gantry pack dev ${word}\n  gantry run ${word}/example.json ${inputs.join(' ')} --watch\n`,
    );
  },
};

export const check: Action = {
  takes: '<folder>',
  async act(call, word = '') {
    const folder = path.resolve(call.io.cwd, word);
    const { manifest, faults } = await checkPack(folder);
    if (call.args.flag('json')) printJson(call, { faults });
    else {
      printFaults(call, folder, faults);
      const summary = `${countOf(faults, 'error')}, ${countOf(faults, 'warning')}`;
      call.io.stdout.write(manifest ? `${packLabel(manifest)}: ${summary}\n` : `${summary}\n`);
    }
    if (faults.some(isError)) throw new FaultyPack();
  },
};

/** Writes the archive to the given path, or to the current folder, and prints its content. */
export async function writeBuilt(call: Call, built: Omit<BuiltPack, 'files'>): Promise<void> {
  const { args, io } = call;
  const file = args.text('out') ?? archiveName(built.manifest);
  await writeFile(path.resolve(io.cwd, file), built.bytes);
  const { integrity, bytes } = built;
  if (args.flag('json')) printJson(call, { file, integrity, bytes: bytes.length });
  else io.stdout.write(`${file}  ${bytes.length} bytes\n${integrity}\n`);
}

export const build: Action = {
  takes: '<folder>',
  act: async (call, folder = '') => writeBuilt(call, await buildOf(call, folder)),
};
