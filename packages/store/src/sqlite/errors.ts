/** Turns what SQLite and the file system throw into the catalogue. */
import { accessSync, constants } from 'node:fs';
import { StoreError } from '../error.ts';

/** Primary result codes, https://sqlite.org/rescode.html */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** A write that the system refused for another reason than ENOSPC: a quota or a file size limit. */
const IOERR_WRITE = IOERR | (3 << 8);

/** Answers a StoreError for what an operator can fix, else the error itself. */
export function explain(error: unknown, dataDir: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  if ('errcode' in error && typeof error.errcode === 'number')
    return explainSqlite(error, error.errcode, dataDir);
  if ('code' in error && 'syscall' in error) return explainSystem(error, String(error.code), dataDir);
  return error;
}

function explainSqlite(error: Error, errcode: number, dataDir: string): unknown {
  const cause = error;
  const detail = `${dataDir} (${error.message})`;
  if (errcode === IOERR_WRITE) {
    return new StoreError('disk_full', `No more can be written to ${detail}.`, { cause });
  }
  switch (errcode & 0xff) {
    case FULL:
      return new StoreError('disk_full', `The disk is full at ${detail}.`, { cause });
    case READONLY:
      return new StoreError('read_only', `The database cannot be written in ${detail}.`, { cause });
    case CANTOPEN:
      return canWrite(dataDir)
        ? new StoreError('io', `The database cannot be opened in ${detail}.`, { cause })
        : new StoreError('read_only', `The folder cannot be written: ${detail}.`, { cause });
    case BUSY:
      return new StoreError('locked', `Another process is using the database in ${detail}.`, { cause });
    case IOERR:
      return new StoreError('io', `The disk failed at ${detail}.`, { cause });
    case CORRUPT:
    case NOTADB:
      return new StoreError('corrupt', `The database is damaged in ${detail}.`, { cause });
    default:
      return error;
  }
}

function explainSystem(error: Error, code: string, dataDir: string): StoreError {
  const cause = error;
  const detail = `${dataDir} (${error.message})`;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StoreError('disk_full', `The disk is full at ${detail}.`, { cause });
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new StoreError('read_only', `The folder cannot be written: ${detail}.`, { cause });
  }
  return new StoreError('io', `The data folder cannot be used: ${detail}.`, { cause });
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
