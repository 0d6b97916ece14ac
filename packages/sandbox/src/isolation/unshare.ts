/**
 * The same views with util-linux alone. A root folder of empty mount points is prepared once; each child binds
 * Node, its libraries, the runner and its pack into it, in a mount view of its own, and moves in.
 *
 * When the host is root it mounts as root and gives up its uid; else it is root of a user view of its own.
 * Either way the second `unshare --user` leaves Node as nobody without capabilities, and since it is in a
 * chroot the kernel refuses it further user views. `--pdeathsig` is set again after the uid changed, because
 * that clears it [tried: without, a busy child outlives a killed host].
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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

function prepareRoot(workDir: string): { root: string; fstab: string } {
  const root = path.join(workDir, 'root');
  const fstab = path.join(workDir, 'fstab');
  const files: [string, string][] = [
    [NODE, INSIDE.node],
    ...sharedLibraries().map((file): [string, string] => [file, file]),
  ];
  for (const folder of [INSIDE.runner, INSIDE.pack]) mkdirSync(path.join(root, folder), { recursive: true });
  for (const [, inside] of files) {
    mkdirSync(path.join(root, path.dirname(inside)), { recursive: true });
    writeFileSync(path.join(root, inside), '');
  }
  const mounts: [string, string][] = [['.', ''], ...files, [RUNNER_FOLDER, INSIDE.runner]];
  const lines = mounts.map(([from, inside]) => {
    const source = from === '.' ? root : from;
    return `${field(source)} ${field(`${root}${inside}`)} none bind,ro,nosuid,nodev 0 0`;
  });
  writeFileSync(fstab, `${lines.join('\n')}\n`);
  return { root, fstab };
}

/** A root host hands over to nobody, who must be able to read the pack; its files are no secret from it. */
function openFolder(folder: string): void {
  const open = (file: string, bits: number): void => {
    const { mode } = lstatSync(file);
    if ((mode & bits) !== bits) chmodSync(file, (mode & 0o777) | bits);
  };
  open(folder, 0o555);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) open(file, 0o555);
    else if (entry.isFile()) open(file, 0o444);
  }
}

export function unshareIsolation(workDir: string): Isolation {
  const { root, fstab } = prepareRoot(workDir);
  const asRoot = isRoot();
  const outer = asRoot ? VIEWS : ['--user', '--map-root-user', ...VIEWS];
  const inner = [
    ...(asRoot ? BECOME_NOBODY : []),
    '--no-new-privs',
    '--pdeathsig',
    'KILL',
    'unshare',
    ...MOVE_IN,
  ];
  return {
    kind: 'unshare',
    command: ({ folder, flags }) => {
      if (asRoot) openFolder(folder);
      const outerArguments = [...outer, 'sh', '-c', SCRIPT, 'sh', root, fstab, folder];
      const innerArguments = [...inner, INSIDE.node, ...nodeArguments(INSIDE, flags)];
      return {
        file: 'setpriv',
        args: ['--pdeathsig', 'KILL', 'unshare', ...outerArguments, ...innerArguments],
        folder: INSIDE.pack,
      };
    },
  };
}
