/** The requirements of the workflow definitions in a folder: their `packs` maps. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isSource, type Root } from '@gantry/packs';
import type { Json, JsonObject } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { readJson } from '../../values.ts';

export interface WorkflowRoot extends Root {
  /** The archive that the workflow pins, if any. */
  readonly integrity?: string;
}

/** Packs with the scope `local` are folders on this machine; no registry has them. */
export const isLocal = ({ name }: Pick<Root, 'name'>): boolean => name.startsWith('local.');

const ANY_VERSION = '*';

const workflowsFolder = ({ args, io }: Call): string =>
  args.text('workflows') ?? (io.env.GANTRY_WORKFLOWS_DIR || 'workflows');

/**
 * Undefined if the folder does not exist. An unreadable file stops the command: a lockfile without its
 * requirements would look complete.
 */
export async function workflowRoots(call: Call): Promise<WorkflowRoot[] | undefined> {
  const name = workflowsFolder(call);
  const folder = path.resolve(call.io.cwd, name);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && call.args.text('workflows') === undefined) return undefined;
    throw new UsageError(`Cannot read the folder ${name} (${error.code}). Name another with --workflows.`);
  });
  if (!entries) return undefined;
  const files = entries.filter((entry) => entry.isFile() && isSource(entry.name));
  const roots: WorkflowRoot[] = [];
  for (const file of files.map((entry) => entry.name).sort())
    roots.push(...rootsOf(path.join(name, file), await readJson(path.join(folder, file))));
  return roots;
}

/** Like `workflowRoots`, but throws if the folder does not exist. */
export async function requireWorkflowRoots(call: Call): Promise<WorkflowRoot[]> {
  const roots = await workflowRoots(call);
  if (roots) return roots;
  throw new UsageError(
    `There is no folder ${workflowsFolder(call)}. Name the one with your workflows: --workflows DIR`,
  );
}

function rootsOf(file: string, definition: Json): WorkflowRoot[] {
  if (!isObject(definition))
    throw new UsageError(`${file} is not a workflow definition: it is not an object.`);
  const { id, packs = {} } = definition;
  if (!isObject(packs)) throw new UsageError(`${file}: "packs" is not an object with the names of packs.`);
  const requestedBy = `workflow ${typeof id === 'string' ? id : file}`;
  return Object.entries(packs).map(([name, pin]) => {
    const { version = ANY_VERSION, integrity } = isObject(pin) ? pin : {};
    if (!isObject(pin) || typeof version !== 'string')
      throw new UsageError(`${file}: "packs" must give ${name} a version such as { "version": "^1.2.0" }.`);
    return { name, range: version, requestedBy, ...(typeof integrity === 'string' && { integrity }) };
  });
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
