import {
  BECOME_NOBODY,
  INSIDE,
  type Isolation,
  isRoot,
  type Launcher,
  nodeView,
  openFolder,
  pythonView,
  type View,
} from './launch.ts';

const VIEWS = ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'];
const RULES = ['--unshare-cgroup-try', '--die-with-parent', '--new-session', '--as-pid-1'];
const NOBODY = ['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'];

/**
 * Bubblewrap: new user, pid, network, mount, ipc and uts views over an empty root; dies with the host.
 * It keeps the uid of who starts it, so a root host becomes nobody first, and the folders of packs have to lie
 * where nobody can enter; `unshare` does not ask for that.
 */
export const bwrapIsolation = (): Isolation => ({
  ...inView(nodeView()),
  forPython: (python) => inView(pythonView(python)),
});

function inView({ files, folders, hidden, command }: View): Launcher {
  const bound = [...files, ...folders].flatMap(([outside, inside]) => ['--ro-bind', outside, inside]);
  const covered = hidden.flatMap((folder) => ['--tmpfs', folder, '--remount-ro', folder]);
  const launcher = isRoot() ? [...BECOME_NOBODY, '--pdeathsig', 'KILL', 'bwrap'] : [];
  const fixed = [...launcher, ...VIEWS, ...RULES, ...NOBODY, ...bound, ...covered];
  return {
    kind: 'bwrap',
    command: ({ folder, flags }) => {
      openFolder(folder);
      const pack = ['--ro-bind', folder, INSIDE.pack, '--remount-ro', '/', '--chdir', '/', '--'];
      const args = [...fixed, ...pack, ...command(flags)];
      return { file: isRoot() ? 'setpriv' : 'bwrap', args, folder: INSIDE.pack };
    },
  };
}
