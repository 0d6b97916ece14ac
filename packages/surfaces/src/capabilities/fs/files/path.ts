/** Checks paths of callers. A path that is not plain on every system is refused on every system. */
import { OpenwopError } from '@gantry/protocol';
import { SANDBOX_ROOT } from '../../../ports/files.ts';

const PATH_BYTES_MAX = 1_024;
const NAME_BYTES_MAX = 255;
const DEPTH_MAX = 32;

/** Windows opens a device for these names, in any folder and with any extension. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** Backslashes and colons are separators on Windows; bidirectional and invisible characters disguise a name. */
const ODD = /[\\:*?"<>|\p{Cc}\p{Bidi_Control}\u200b\u2060\ufeff]/u;

/** Names from the root, without `.` and `..`; absolute paths must start there. Throws `path_outside_sandbox`. */
export function plainPath(path: string): string[] {
  const names = plainPathOrRoot(path);
  if (names.length === 0) throw outside(path, 'names the folder itself');
  return names;
}

/** The same, with an empty list for the root itself. */
export const plainPathOrRoot = (path: string): string[] => resolve(path, path);

/**
 * The folder and the name prefix of a path prefix. `con` is allowed here: it is no valid name, but
 * `config.json` begins so.
 */
export function plainPrefix(prefix: string): { readonly folders: string[]; readonly start: string } {
  if (prefix === SANDBOX_ROOT) return { folders: [], start: '' };
  const end = prefix.lastIndexOf('/') + 1;
  const start = prefix.slice(end);
  if (start === '..') throw outside(prefix, 'ends with ".."');
  checkText(start, prefix, NAME_BYTES_MAX);
  return { folders: resolve(prefix.slice(0, end), prefix), start };
}

function resolve(path: string, given: string): string[] {
  checkText(path, given, PATH_BYTES_MAX);
  if (path.startsWith('//') || path.startsWith('~')) throw outside(given, 'does not start in the folder');
  const names = normalized(path, given);
  if (path.startsWith('/') && names.shift() !== SANDBOX_ROOT.slice(1))
    throw outside(given, 'does not start in the folder');
  if (names.length > DEPTH_MAX) throw outside(given, `has more than ${DEPTH_MAX} folders`);
  return names;
}

function checkText(text: string, given: string, bytesMax: number): void {
  if (Buffer.byteLength(text) > bytesMax) throw outside(given, `has more than ${bytesMax} bytes`);
  if (!text.isWellFormed() || ODD.test(text))
    throw outside(given, 'has characters that no file name here may have');
}

function normalized(path: string, given: string): string[] {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(checked(name, given));
    else if (names.pop() === undefined) throw outside(given, 'leads out of the folder');
  }
  return names;
}

function checked(name: string, given: string): string {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw outside(given, `has a name of more than ${NAME_BYTES_MAX} bytes`);
  if (DEVICE.test(name)) throw outside(given, 'has the name of a device');
  if (/^\s|[. ]$/.test(name))
    throw outside(given, 'has a name that begins with a space or ends with a space or dot');
  return name;
}

/** Whether a caller could request the path. */
export function isPlainPath(path: string): boolean {
  try {
    return plainPath(path).length > 0;
  } catch {
    return false;
  }
}

const SHOWN_MAX = 200;

/** The message never reveals paths of this machine. */
export const outside = (path: string, problem: string): OpenwopError =>
  new OpenwopError('path_outside_sandbox', {
    message:
      `The path ${JSON.stringify(path.slice(0, SHOWN_MAX))} ${problem}. Use a path of plain names, such as ` +
      `"reports/july.csv" or "${SANDBOX_ROOT}/reports/july.csv".`,
  });
