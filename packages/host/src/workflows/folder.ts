/** Definitions from the operator's folder, loaded at start and visible to every tenant. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isSource, readSource } from '@gantry/packs';
import { type Json, OpenwopError } from '@gantry/protocol';
import type { Logger } from 'pino';
import type { Workflows } from '../runtime/runtime.ts';
import { SHARED } from './workflows.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Registers every definition of the folder, in JSON or YAML. A bad file, and a second one with the same id, is reported
 * and skipped. Returns the ids served.
 */
export async function loadWorkflowsFolder(
  folder: string,
  workflows: Workflows,
  log: Logger,
): Promise<string[]> {
  const files = (await list(folder)).filter(isSource).sort();
  const served = new Map<string, string>();
  for (const file of files) {
    try {
      const definition = await readDefinition(path.join(folder, file));
      const { id } = Object(definition) as { readonly id?: unknown };
      const other = served.get(String(id));
      if (other !== undefined)
        throw new Error(`${other} and ${file} both define the workflow ${id}. Delete one, or rename its id.`);
      const record = await workflows.register(SHARED, definition);
      served.set(record.workflowId, file);
    } catch (error) {
      log.warn({ file, reason: reasonOf(error) }, 'workflow file skipped');
    }
  }
  return [...served.keys()];
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function readDefinition(file: string): Promise<Json> {
  const text = await readFile(file, 'utf8');
  if (text.length > FILE_BYTES_MAX) throw new Error(`file is larger than ${FILE_BYTES_MAX} bytes`);
  const source = await readSource(file, text);
  if (source.kind === 'json') return source.value;
  const { line, column } = source.position;
  throw new Error(`line ${line}, column ${column}: ${source.message}`);
}

function reasonOf(error: unknown): string {
  if (error instanceof OpenwopError || error instanceof Error) return error.message;
  return String(error);
}
