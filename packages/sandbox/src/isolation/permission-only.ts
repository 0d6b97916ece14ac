import { type Isolation, NODE, nodeArguments, RUNNER_FOLDER } from './launch.ts';

/** Node's permission model alone: a fence against accidents, not a wall. Only when the operator asks for it. */
export function permissionOnlyIsolation(): Isolation {
  return {
    kind: 'permission-only',
    isFiltered: false,
    command: ({ folder, flags }) => ({
      file: NODE,
      args: nodeArguments({ runner: RUNNER_FOLDER, pack: folder }, flags),
      folder,
      release: () => {},
    }),
    forPython: () => undefined,
  };
}
