/** Paths as callers write them. What is not a plain path on every system is refused on every system. */
import { OpenwopError } from '@gantry/protocol';
import { SANDBOX_ROOT } from '../../../ports/files.ts';

const PATH_BYTES_MAX = 1_024;
const NAME_BYTES_MAX = 255;
const DEPTH_MAX = 32;

/** Windows opens a device under these names, whatever the folder and the extension. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** Backslashes and colons separate on Windows; text that runs backwards or shows nothing hides what it names. */
const ODD = /[\\:*?"<>|\p{Cc}\p{Bidi_Control}\u200b\u2060\ufeff]/u;

/** Names from the root, without `.` and `..`; absolute paths must lead there. Throws `path_outside_sandbox`. */
export function plainPath(path: string): string[] {
  const names = plainPathOrRoot(path);
  if (names.length === 0) throw outside(path, 'names the folder itself');
  return names;
}

/** The same, and no names for the root itself. */
export const plainPathOrRoot = (path: string): string[] => resolve(path, path);

/** The folder and the beginning of a name that a prefix means: `con` is no name, but `config.json` begins so. */
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

/** Whether what is there could be asked for. */
export function isPlainPath(path: string): boolean {
  try {
    return plainPath(path).length > 0;
  } catch {
    return false;
  }
}

const SHOWN_MAX = 200;

/** Never names anything of this machine. */
export const outside = (path: string, problem: string): OpenwopError =>
  new OpenwopError('path_outside_sandbox', {
    message:
      `The path ${JSON.stringify(path.slice(0, SHOWN_MAX))} ${problem}. Use a path of plain names, such as ` +
      `"reports/july.csv" or "${SANDBOX_ROOT}/reports/july.csv".`,
  });
