/** `node:fs` by path only: no descriptors, links or watchers. The host owns the folder and performs the operations. */
import { Buffer } from 'node:buffer';
import { call, callSync, current, denied, isGranted } from './scope.mjs';

const toBuffer = Buffer.from.bind(Buffer);

const READS = ['readFile', 'readdir', 'stat', 'access'];
const WRITES = ['writeFile', 'appendFile', 'mkdir', 'rm', 'unlink', 'rename', 'copyFile'];

function check(name, path) {
  const primitive = READS.includes(name) ? 'fs.read' : 'fs.write';
  if (!isGranted(primitive)) throw denied(primitive);
  if (typeof path !== 'string') throw new Error('Only paths given as strings are supported.');
}

const encodingOf = (options) => (typeof options === 'string' ? options : options?.encoding);

function present(name, value, options) {
  if (name === 'readFile') {
    const buffer = toBuffer(value.buffer, value.byteOffset, value.byteLength);
    return encodingOf(options) ? buffer.toString(encodingOf(options)) : buffer;
  }
  if (name !== 'stat') return value ?? undefined;
  const { kind, size, mtimeMs } = value;
  return { size, mtimeMs, isFile: () => kind === 'file', isDirectory: () => kind === 'directory' };
}

function argumentsOf(name, args) {
  if (name !== 'writeFile' && name !== 'appendFile') return args.filter((arg) => typeof arg !== 'function');
  const [path, data, options] = args;
  return [path, typeof data === 'string' ? toBuffer(data, encodingOf(options) ?? 'utf8') : data];
}

const promised =
  (name) =>
  async (...args) => {
    check(name, args[0]);
    return present(name, await call(current(), `file.${name}`, argumentsOf(name, args)), args[1]);
  };

const blocking =
  (name) =>
  (...args) => {
    check(name, args[0]);
    return present(name, callSync(current(), `file.${name}`, argumentsOf(name, args)), args[1]);
  };

const names = [...READS, ...WRITES];
export const fsPromises = Object.fromEntries(names.map((name) => [name, promised(name)]));
const fsBlocking = Object.fromEntries(names.map((name) => [`${name}Sync`, blocking(name)]));

function existsSync(path) {
  try {
    fsBlocking.accessSync(path);
    return true;
  } catch {
    return false;
  }
}

export const fs = { ...fsBlocking, existsSync, promises: fsPromises };
