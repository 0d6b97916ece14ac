/** Security advisories of a registry. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Json, JsonObject } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { print } from '../../output.ts';
import { printable } from '../../style.ts';
import { askRegistry } from './request.ts';

const text = (value: Json | undefined): string => (typeof value === 'string' ? printable(value) : '-');

async function list(call: Call): Promise<void> {
  const { advisories = [] } = await askRegistry<{ advisories?: JsonObject[] }>(call, {
    method: 'GET',
    path: '/security/advisories.json',
    isOpen: true,
  });
  const found = { advisories };
  print(call, found, {
    items: advisories,
    columns: {
      ID: ({ id }) => text(id),
      SEVERITY: ({ severity }) => text(severity),
      SINCE: ({ publishedAt }) => text(publishedAt),
      SUMMARY: ({ summary }) => text(summary),
    },
    none: 'No advisories.',
  });
}

async function add(call: Call, file: string): Promise<void> {
  const advisory = await readAdvisory(call, file);
  const answer = await askRegistry<JsonObject>(call, {
    method: 'PUT',
    body: advisory,
    path: `/v1/host/gantry/registry/advisories/${encodeURIComponent(String(advisory.id))}`,
  });
  const isKnown = answer.outcome === 'unchanged';
  print(call, answer, `${text(advisory.id)} is ${isKnown ? 'published already' : 'published'}.\n`);
}

async function readAdvisory({ io }: Call, file: string): Promise<JsonObject> {
  try {
    const value: Json = JSON.parse(await readFile(path.resolve(io.cwd, file), 'utf8'));
    if (value !== null && typeof value === 'object' && !Array.isArray(value) && typeof value.id === 'string')
      return value;
  } catch (error) {
    throw new UsageError(`Cannot read ${file} (${error instanceof Error ? error.message : error}).`);
  }
  throw new UsageError(`${file} is not an advisory: a JSON object with an "id" such as OPENWOP-2026-0001.`);
}

export const advisories: Action = {
  takes: '<what> [file]',
  async act(call, what = '', file) {
    if (what === 'ls' && file === undefined) return list(call);
    if (what === 'add' && file !== undefined) return add(call, file);
    throw new UsageError('Usage: gantry registry advisories ls | add <file>');
  },
};
