/** Definitions from the operator's folder, loaded at start and visible to every tenant. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Json, OpenwopError, readJsonText } from '@gantry/protocol';
import type { Logger } from 'pino';
import type { Workflows } from '../runtime/runtime.ts';
import { SHARED } from './workflows.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Registers every `*.json` of the folder. A bad file is reported and skipped. Returns the ids served. */
export async function loadWorkflowsFolder(
  folder: string,
  workflows: Workflows,
  log: Logger,
): Promise<string[]> {
  const files = (await list(folder)).filter((file) => file.endsWith('.json')).sort();
  const ids: string[] = [];
  for (const file of files) {
    try {
      const record = await workflows.register(SHARED, await readJson(path.join(folder, file)));
      ids.push(record.workflowId);
    } catch (error) {
      log.warn({ file, reason: reasonOf(error) }, 'workflow file skipped');
    }
  }
  return ids;
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function readJson(file: string): Promise<Json> {
  const text = await readFile(file, 'utf8');
  if (text.length > FILE_BYTES_MAX) throw new Error(`file is larger than ${FILE_BYTES_MAX} bytes`);
  const { value, problem } = readJsonText(text);
  if (problem) throw new Error(`${problem.path}: ${problem.problem}`);
  return value;
}

function reasonOf(error: unknown): string {
  if (error instanceof OpenwopError || error instanceof Error) return error.message;
  return String(error);
}
