import { writeFile } from 'node:fs/promises';
import { ARTIFACT_FORMATS, type ArtifactList } from '@gantry/protocol';
import { type Actions, actionCommand } from '../actions.ts';
import { type Call, flag, option } from '../command.ts';
import { ago, type Columns, print, printJson } from '../output.ts';
import { readChoice, readJson } from '../values.ts';

const FORMATS = [...ARTIFACT_FORMATS, 'raw'] as const;

const versionOf = ({ args }: Call): { version?: string } => args.given('version');

/** Writes a document to the standard output, or to a file, which is better for binary content. */
async function show(call: Call, runId = '', artifactId = ''): Promise<void> {
  const { client, args, io } = call;
  const format = readChoice(args.text('as'), { known: FORMATS, noun: 'format' });
  const file = args.text('out');
  if (!format && !file) {
    const artifact = await client.artifacts.get(runId, artifactId, versionOf(call));
    return printJson(call, args.flag('json') ? artifact : (artifact.content ?? artifact));
  }
  const bytes = await client.artifacts.export(runId, artifactId, format ?? 'json', versionOf(call));
  if (file === undefined) return void io.stdout.write(Buffer.from(bytes).toString('utf8'));
  await writeFile(file, bytes);
  io.stderr.write(`${bytes.length} bytes in ${file}\n`);
}

type Draft = ArtifactList['drafts'][number];
type Listed = ArtifactList['artifacts'][number] | Draft;

const isDraft = (one: Listed): one is Draft => 'syncOn' in one;

const COLUMNS: Columns<Listed> = {
  ARTIFACT: 'artifactId',
  VERSION: (one) => (isDraft(one) ? '-' : one.version),
  TYPE: 'artifactType',
  CHECKED: (one) => (isDraft(one) ? '-' : one.registered ? 'yes' : 'no'),
  STORED(one, now) {
    if (!isDraft(one)) return ago(one.createdAt, now);
    return one.syncOn === 'manual' ? 'when you register it' : 'with an approval';
  },
  SUMMARY: (one) => (isDraft(one) ? '' : one.summary),
};

const actions: Actions = {
  ls: {
    takes: '<runId>',
    async act(call, runId = '') {
      const { artifacts, drafts } = await call.client.artifacts.list(runId);
      const items = [...artifacts, ...drafts];
      const none = `${runId} has no artifacts. A node has one when it names an \`artifactType\`.`;
      print(call, { artifacts, drafts }, { items, columns: COLUMNS, none });
    },
  },
  show: { takes: '<runId> <artifactId>', act: show },
  edit: {
    takes: '<runId> <artifactId> <file>',
    async act(call, runId = '', artifactId = '', file = '') {
      const content = await readJson(file);
      const { version } = await call.client.artifacts.workingCopy(runId, artifactId);
      const copy = await call.client.artifacts.writeWorkingCopy(runId, artifactId, { version, content });
      print(call, copy, `Written. Store it: gantry artifacts register ${runId} ${artifactId}\n`);
    },
  },
  register: {
    takes: '<runId> <artifactId>',
    async act(call, runId = '', artifactId = '') {
      const stored = await call.client.artifacts.register(runId, artifactId);
      print(call, stored, `${artifactId} is stored as version ${stored.version}.\n`);
    },
  },
};

export const artifacts = actionCommand({
  name: 'artifacts',
  summary: 'what runs produced: list, read, export, edit and store it',
  actions,
  isNamed: true,
  options: {
    version: option('N', 'this version instead of the last', { of: ['show'] }),
    as: option('FORMAT', FORMATS.join(', '), { of: ['show'] }),
    out: option('FILE', 'into a file', { of: ['show'] }),
    json: flag('print JSON'),
  },
  examples: [
    'gantry artifacts ls RUN',
    'gantry artifacts show RUN report --as md',
    'gantry artifacts show RUN report --as html --out report.html',
    'gantry artifacts edit RUN report report.json',
    'gantry artifacts register RUN report',
  ],
});
