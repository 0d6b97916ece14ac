/** Two ways to isolate a process with the operating system: bubblewrap, and util-linux alone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  becomeUser,
  INSIDE,
  isRoot,
  limited,
  type Materials,
  openFolder,
  type View,
  type Wall,
  withPrlimit,
  withTool,
} from './launch.ts';

const BWRAP_VIEWS = ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'];
/** bwrap itself is the first process of the pid namespace: a pack that is the first itself can outlive the host. */
const BWRAP_RULES = ['--unshare-cgroup-try', '--die-with-parent', '--hostname', 'pack'];
const NOBODY = ['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'];
/** The first descriptor after the pipes of the child. */
const FILTER_DESCRIPTOR = '6';

/**
 * Bubblewrap: new user, pid, network, mount, ipc and uts namespaces over an empty root; dies with the host. It
 * keeps the uid of the process that starts it, so a root host changes its uid first, and other users must be
 * able to enter the folders of packs. `unshare` does not require that.
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
    const fixed = [...BWRAP_VIEWS, ...BWRAP_RULES, ...NOBODY, ...filtered, ...bound, ...covered];
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

/** The `exit` after the command keeps the shell from replacing itself with the command. */
const SCRIPT = `
set -e
ulimit -c 0
cd "$1"
mount -T "$2" -a
mount -o bind,ro,nosuid,nodev,noexec "$3" ".${INSIDE.pack}"
cd "$1"
for limit in shmall msgmni; do { echo 0 > /proc/sys/kernel/$limit; } 2> /dev/null || :; done
{ echo 0 0 0 0 > /proc/sys/kernel/sem; } 2> /dev/null || :
shift 3
"$@"
exit 0
`;

const VIEWS = ['--mount', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child=KILL'];
const MOVE_IN = ['--user', '--map-user=65534', '--map-group=65534', '--root=.', '--wd=/'];
const LAUNCHER = path.join(import.meta.dirname, 'launcher.py');

/** How a process enters the view, with limits and, where possible, the filter. */
type Entrance =
  | { readonly kind: 'python'; readonly python: string; readonly filter: string }
  | { readonly kind: 'util-linux'; readonly isFiltered: boolean };

function entranceOf({ filter, tools: { filteringSetpriv, filteringPython } }: Materials): Entrance {
  if (filter === undefined || filteringSetpriv || !filteringPython)
    return { kind: 'util-linux', isFiltered: filter !== undefined && filteringSetpriv !== undefined };
  return { kind: 'python', python: filteringPython, filter };
}

function viewFor(entrance: Entrance, plain: View, { tools, filter }: Materials): View {
  if (entrance.kind === 'python') return plain;
  const view = withPrlimit(plain, tools);
  if (!tools.filteringSetpriv || filter === undefined) return view;
  const filtering = withTool(view, INSIDE.setpriv, tools.filteringSetpriv);
  return { ...filtering, files: [...filtering.files, [filter, INSIDE.filter]] };
}

function enter(entrance: Entrance, view: View, uid: number | undefined, dataBytes: number | undefined) {
  if (entrance.kind === 'python') {
    const { python, filter } = entrance;
    const limits = [dataBytes ?? '-', view.processesMax].map(String);
    return [python, '-I', '-S', '-B', LAUNCHER, filter, `${uid ?? '-'}`, ...limits];
  }
  const user = uid === undefined ? [] : becomeUser(uid);
  const filtered = ['--no-new-privs', '--seccomp-filter', INSIDE.filter];
  const moved = ['setpriv', ...user, '--no-new-privs', 'unshare', ...MOVE_IN, ...limited(view, dataBytes)];
  return entrance.isFiltered ? [...moved, INSIDE.setpriv, ...filtered] : moved;
}

/** Escapes a field of fstab: white space and backslashes are octal there. */
const field = (text: string): string =>
  text.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

function prepareRoot(folder: string, { files, folders, hidden }: View): { root: string; fstab: string } {
  const root = path.join(folder, 'root');
  const empty = path.join(folder, 'empty');
  const fstab = path.join(folder, 'fstab');
  for (const made of [empty, path.join(root, INSIDE.pack), ...folders.map(([, to]) => path.join(root, to))])
    mkdirSync(made, { recursive: true });
  for (const [, inside] of files) {
    mkdirSync(path.join(root, path.dirname(inside)), { recursive: true });
    writeFileSync(path.join(root, inside), '');
  }
  const covered = hidden.map((inside): [string, string] => [empty, inside]);
  const mounts = [[root, ''] as const, ...files, ...folders, ...covered];
  const lines = mounts.map(
    ([outside, inside]) => `${field(outside)} ${field(`${root}${inside}`)} none bind,ro,nosuid,nodev 0 0`,
  );
  writeFileSync(fstab, `${lines.join('\n')}\n`);
  return { root, fstab };
}

/**
 * Unshare: the same namespaces with util-linux alone. A root folder of empty mount points is prepared once.
 * Each child binds Node, its libraries, the runner and its pack into it, in its own mount namespace, and enters
 * it.
 *
 * When the host is root, it mounts as root and then changes its uid; else it is root of its own user namespace.
 * In both cases a second user namespace runs Node as the user nobody without capabilities. Since Node is in a
 * chroot, the kernel refuses it further user namespaces.
 *
 * I1 The shell that mounts stays the first process of the pid namespace: when it ends, because the host died or
 *    it was killed, the kernel ends all processes in that namespace, whatever a pack did to its own process.
 * I2 The filter is applied last, since it refuses the steps before it: by the Python launcher outside the view,
 *    or by the `setpriv` of a newer util-linux inside it.
 */
export function unshareWall(materials: Materials): Wall {
  const entrance = entranceOf(materials);
  const outer = isRoot() ? VIEWS : ['--user', '--map-root-user', ...VIEWS];
  return {
    kind: 'unshare',
    isFiltered: entrance.kind === 'python' || entrance.isFiltered,
    launcherOf(plain) {
      const view = viewFor(entrance, plain, materials);
      const { root, fstab } = prepareRoot(path.join(materials.workDir, view.kind), view);
      return {
        kind: 'unshare',
        command: ({ folder, flags, dataBytes }) => {
          openFolder(folder);
          const user = materials.takeUid();
          const mounted = [...outer, 'sh', '-c', SCRIPT, 'sh', root, fstab, folder];
          const inner = [...enter(entrance, view, user.uid, dataBytes), ...view.command(flags)];
          const args = ['--pdeathsig', 'KILL', 'unshare', ...mounted, ...inner];
          return { file: 'setpriv', args, folder: INSIDE.pack, ...user };
        },
      };
    },
  };
}
