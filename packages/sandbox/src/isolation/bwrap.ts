import {
  BECOME_NOBODY,
  INSIDE,
  type Isolation,
  isRoot,
  NODE,
  nodeArguments,
  RUNNER_FOLDER,
  sharedLibraries,
} from './launch.ts';

/**
 * Bubblewrap: new user, pid, network, mount, ipc and uts views over an empty root; dies with the host.
 * It keeps the uid of who starts it, so a root host becomes nobody first.
 */
export function bwrapIsolation(): Isolation {
  const libraries = sharedLibraries().flatMap((file) => ['--ro-bind', file, file]);
  const fixed = [
    ...(isRoot() ? [...BECOME_NOBODY, '--pdeathsig', 'KILL', 'bwrap'] : []),
    '--unshare-user',
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...[
      '--die-with-parent',
      '--new-session',
      '--as-pid-1',
      '--cap-drop',
      'ALL',
      '--uid',
      '65534',
      '--gid',
      '65534',
    ],
    ...libraries,
    ...['--ro-bind', NODE, INSIDE.node, '--ro-bind', RUNNER_FOLDER, INSIDE.runner],
  ];
  return {
    kind: 'bwrap',
    command: ({ folder, flags }) => ({
      file: isRoot() ? 'setpriv' : 'bwrap',
      args: [
        ...fixed,
        ...['--ro-bind', folder, INSIDE.pack, '--remount-ro', '/', '--chdir', '/', '--', INSIDE.node],
        ...nodeArguments(INSIDE, flags),
      ],
      folder: INSIDE.pack,
    }),
  };
}
