/** Maps errors of SQLite and the file system to the error catalogue. */
import { accessSync, constants } from 'node:fs';
import { StoreError, type StoreErrorCode } from '../error.ts';

/** Primary result codes, https://sqlite.org/rescode.html */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
const ERROR = 1;
const TOOBIG = 18;
const CONSTRAINT = 19;
const MISMATCH = 20;
const RANGE = 25;
const FOLDER_READ_ONLY = ['read_only', 'The folder cannot be written:'] as const;
/** A write that the system refused for a reason other than ENOSPC: a quota or a file size limit. */
const IOERR_WRITE = IOERR | (3 << 8);

/** Returns a StoreError for failures that an operator can fix, otherwise the error itself. */
export function explain(error: unknown, dataDir: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  if ('errcode' in error && typeof error.errcode === 'number')
    return explainSqlite(error, error.errcode, dataDir);
  if ('code' in error && 'syscall' in error)
    return failure(SYSTEM[String(error.code)] ?? ['io', 'The data folder cannot be used:'], error, dataDir);
  return error;
}

/**
 * Whether a write failed because of its content, or by a bug in its code. The transaction can then go on without it.
 * After any other failure SQLite may have rolled the transaction back.
 */
export function isOfContent(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'rejected';
  if (!(error instanceof Error) || !('errcode' in error)) return true;
  return [ERROR, TOOBIG, CONSTRAINT, MISMATCH, RANGE].includes(Number(error.errcode) & 0xff);
}

/** The meaning of the primary result codes for an operator. */
const SQLITE: Readonly<Record<number, readonly [StoreErrorCode, string]>> = {
  [FULL]: ['disk_full', 'The disk is full at'],
  [READONLY]: ['read_only', 'The database cannot be written in'],
  [CANTOPEN]: ['io', 'The database cannot be opened in'],
  [BUSY]: ['locked', 'Another process is using the database in'],
  [IOERR]: ['io', 'The disk failed at'],
  [CORRUPT]: ['corrupt', 'The database is damaged in'],
  [NOTADB]: ['corrupt', 'The database is damaged in'],
  [CONSTRAINT]: ['rejected', 'A commit was rejected by the database in'],
  [MISMATCH]: ['rejected', 'A commit was rejected by the database in'],
  [TOOBIG]: ['rejected', 'A commit is too large for the database in'],
};
const SYSTEM: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  ENOSPC: ['disk_full', 'The disk is full at'],
  EDQUOT: ['disk_full', 'The disk is full at'],
  EACCES: FOLDER_READ_ONLY,
  EPERM: FOLDER_READ_ONLY,
  EROFS: FOLDER_READ_ONLY,
};

function explainSqlite(cause: Error, errcode: number, dataDir: string): unknown {
  const primary = errcode & 0xff;
  if (errcode === IOERR_WRITE) return failure(['disk_full', 'No more can be written to'], cause, dataDir);
  if (primary === CANTOPEN && !canWrite(dataDir)) return failure(FOLDER_READ_ONLY, cause, dataDir);
  const known = SQLITE[primary];
  return known ? failure(known, cause, dataDir) : cause;
}

const failure = (
  [code, happened]: readonly [StoreErrorCode, string],
  cause: Error,
  dataDir: string,
): StoreError => new StoreError(code, `${happened} ${dataDir} (${cause.message}).`, { cause });

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
