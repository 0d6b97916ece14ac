import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { type Finding, fail, ok, warn } from './finding.ts';

const NODE_MAJOR = 26;
const GIB = 2 ** 30;
const FREE_WARN_BYTES = GIB;
const FREE_FAIL_BYTES = GIB / 10;

export function checkNode(version: string): Finding {
  if (Number(version.split('.')[0]) >= NODE_MAJOR) return ok('node', version);
  const next = 'Run `npm install` in the project: it brings the right Node.';
  return fail('node', `${version}; Gantry needs ${NODE_MAJOR}`, next);
}

export async function checkData(dataDir: string): Promise<Finding> {
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(dataDir);
    return checkSpace(dataDir, bavail * bsize);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') {
      const next = '`gantry start` makes it. Fine if the host runs elsewhere.';
      return warn('data', `${dataDir} does not exist yet`, next);
    }
    const next = 'Give this user read and write access, or choose another folder with --data.';
    return fail('data', `${dataDir} cannot be used (${code ?? error})`, next);
  }
}

function checkSpace(dataDir: string, freeBytes: number): Finding {
  const detail = `${dataDir}, ${(freeBytes / GIB).toFixed(1)} GiB free`;
  if (freeBytes >= FREE_WARN_BYTES) return ok('data', detail);
  const found = freeBytes >= FREE_FAIL_BYTES ? warn : fail;
  return found('data', detail, 'Free disk space: a full disk stops every run.');
}
