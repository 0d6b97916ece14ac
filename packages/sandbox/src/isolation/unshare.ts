/**
 * The same views with util-linux alone. A root folder of empty mount points is prepared once; each child binds
 * Node, its libraries, the runner and its pack into it, in a mount view of its own, and moves in.
 *
 * When the host is root it mounts as root and gives up its uid; else it is root of a user view of its own.
 * Either way the second `unshare --user` leaves Node as nobody without capabilities, and since it is in a
 * chroot the kernel refuses it further user views. `--pdeathsig` is set again after the uid changed, because
 * that clears it [tried: without, a busy child outlives a killed host].
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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

const SCRIPT = `
set -e
ulimit -c 0
cd "$1"
mount -T "$2" -a
mount -o bind,ro,nosuid,nodev,noexec "$3" ".${INSIDE.pack}"
cd "$1"
shift 3
exec setpriv "$@"
`;

const VIEWS = ['--mount', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child=KILL'];
const MOVE_IN = ['--user', '--map-user=65534', '--map-group=65534', '--root=.', '--wd=/'];

/** A field of fstab: white space and backslashes are octal there. */
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

export const unshareIsolation = (workDir: string): Isolation => ({
  ...inView(workDir, nodeView()),
  forPython: (python) => inView(path.join(workDir, 'python'), pythonView(python)),
});

function inView(workDir: string, view: View): Launcher {
  const { root, fstab } = prepareRoot(workDir, view);
  const asRoot = isRoot();
  const outer = asRoot ? VIEWS : ['--user', '--map-root-user', ...VIEWS];
  const toNobody = asRoot ? BECOME_NOBODY : [];
  const inner = [...toNobody, '--no-new-privs', '--pdeathsig', 'KILL', 'unshare', ...MOVE_IN];
  return {
    kind: 'unshare',
    command: ({ folder, flags }) => {
      openFolder(folder);
      const outerArguments = [...outer, 'sh', '-c', SCRIPT, 'sh', root, fstab, folder];
      return {
        file: 'setpriv',
        args: ['--pdeathsig', 'KILL', 'unshare', ...outerArguments, ...inner, ...view.command(flags)],
        folder: INSIDE.pack,
      };
    },
  };
}
