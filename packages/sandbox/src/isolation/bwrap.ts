import {
  becomeUser,
  INSIDE,
  isRoot,
  limited,
  type Materials,
  openFolder,
  type Wall,
  withPrlimit,
} from './launch.ts';

const VIEWS = ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'];
/** Its own process is the first of the pid view: a pack that is the first itself can outlive the host. */
const RULES = ['--unshare-cgroup-try', '--die-with-parent', '--hostname', 'pack'];
const NOBODY = ['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'];
/** Behind the pipes of the child. */
const FILTER_DESCRIPTOR = '6';

/**
 * Bubblewrap: new user, pid, network, mount, ipc and uts views over an empty root; dies with the host.
 * It keeps the uid of the process that starts it, so a root host changes it first, and the folders of packs have to
 * lie where others can enter; `unshare` does not need that.
 */
export const bwrapWall = ({ filter, tools, takeUid }: Materials): Wall => ({
  kind: 'bwrap',
  isFiltered: filter !== undefined,
  launcherOf(plain) {
    const view = withPrlimit(plain, tools);
    const { files, folders, hidden, command } = view;
    const bound = [...files, ...folders].flatMap(([outside, inside]) => ['--ro-bind', outside, inside]);
    const covered = hidden.flatMap((folder) => ['--tmpfs', folder, '--remount-ro', folder]);
    const filtered = filter === undefined ? [] : ['--seccomp', FILTER_DESCRIPTOR];
    const fixed = [...VIEWS, ...RULES, ...NOBODY, ...filtered, ...bound, ...covered];
    return {
      kind: 'bwrap',
      command: ({ folder, flags, dataBytes }) => {
        openFolder(folder);
        const user = takeUid();
        const pack = ['--ro-bind', folder, INSIDE.pack, '--remount-ro', '/', '--chdir', '/', '--'];
        const args = [...fixed, ...pack, ...limited(view, dataBytes), ...command(flags)];
        const asUser = [...becomeUser(user.uid ?? 0), '--pdeathsig', 'KILL', 'bwrap', ...args];
        return {
          ...(isRoot() ? { file: 'setpriv', args: asUser } : { file: 'bwrap', args }),
          ...user,
          folder: INSIDE.pack,
          ...(filter !== undefined && { attached: filter }),
        };
      },
    };
  },
});
