/** Watches a pack folder and installs it after every save. */
import { existsSync, watch } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@gantry/client';
import { writeArchive } from '@gantry/packs';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printable } from '../../style.ts';
import { FaultyPack } from './fault.ts';
import { installBuilt, say } from './operator.ts';
import { buildOf } from './source.ts';

/** Editors save a file in several steps, and users save several files at once. */
const SETTLE_MS = 50;

/** Yields immediately, then after every save; saves while the caller is working are not missed. */
async function* saves(folder: string, signal: AbortSignal): AsyncGenerator<void> {
  let saved = Promise.withResolvers<void>();
  const wake = () => saved.resolve();
  const watcher = watch(folder, { recursive: true }, wake);
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted) {
      yield;
      await saved.promise;
      await delay(SETTLE_MS);
      saved = Promise.withResolvers<void>();
    }
  } finally {
    signal.removeEventListener('abort', wake);
    watcher.close();
  }
}

/**
 * Errors that another save can fix do not end the watch. Returns whether the host has answered: if not, the
 * same content is tried again at the next save.
 */
async function tryInstall(call: Call, folder: string, isFirst: boolean): Promise<boolean> {
  try {
    say(call, await installBuilt(call, await buildOf(call, folder), true));
    return true;
  } catch (error) {
    call.io.signal.throwIfAborted();
    if (error instanceof FaultyPack) return true;
    if (isFirst) throw error;
    call.io.stderr.write(`${printable(error instanceof Error ? error.message : String(error))}\n`);
    return !(error instanceof ApiError && error.status === 0);
  }
}

/** Undefined while the folder cannot be packed, such as during a save. */
const integrityOf = (folder: string): Promise<string | undefined> =>
  writeArchive(folder).then(
    ({ integrity }) => integrity,
    () => undefined,
  );

export const dev: Action = {
  takes: '<folder> [--grant A,B]',
  async act(call, word = '') {
    const { io } = call;
    const folder = path.resolve(io.cwd, word);
    if (!existsSync(folder))
      throw new UsageError(`There is no folder ${word}. To create one: gantry pack new NAME`);
    let last: { integrity: string | undefined } | undefined;
    for await (const _ of saves(folder, io.signal)) {
      const integrity = await integrityOf(folder);
      if (last && last.integrity === integrity) continue;
      const isSettled = await tryInstall(call, folder, last === undefined);
      if (!last) io.stdout.write(`Watching ${printable(word)}; Ctrl-C ends it.\n`);
      last = { integrity: isSettled ? integrity : undefined };
    }
    io.signal.throwIfAborted();
  },
};
