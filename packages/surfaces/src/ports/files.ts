/**
 * Files of many workspaces.
 *
 * I1  No call sees or changes anything outside the folder of `tenant` and `workspace`: no path, link or race
 *     leads out. A path that does not plainly name something inside is refused with `path_outside_sandbox`.
 * I2  A file is whole or absent: a read sees one write, never a part.
 * I3  A change is durable when it is answered. A repeated invocation gets the first answer and changes
 *     nothing; a call of another method with its id is refused with `idempotency_key_mismatch`.
 */
import type { MakeRoom } from '../calls/content-room.ts';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';

export interface WorkspaceFile {
  readonly workspace: string;
  /** As given by the caller. */
  readonly path: string;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
}

export interface FileFacts {
  readonly sizeBytes: number;
  /** Milliseconds. */
  readonly modifiedAt: number;
  readonly contentType: string | null;
  readonly isDirectory: boolean;
}

export interface FileEntry {
  readonly path: string;
  readonly sizeBytes: number;
  readonly isDirectory: boolean;
}

export interface FileRange {
  readonly workspace: string;
  /** The beginning of a path; it need not end at a slash. */
  readonly prefix: string;
  /** The last path of the previous page. */
  readonly after: string | null;
  readonly limit: number;
  /** Files at every depth; otherwise direct children of the prefix, including folders. */
  readonly recursive: boolean;
  /** Includes names that begin with a dot. */
  readonly hidden: boolean;
}

export type WriteMode = 'overwrite' | 'create-only' | 'append';

/**
 * All methods refuse with `path_outside_sandbox` and `fs_permission_denied`;
 * reads with `file_not_found` and `file_too_large`.
 */
export interface FilesPort {
  /** Calls `makeRoom` when the size is known, before it reads. */
  read(file: WorkspaceFile, call: PortRead, makeRoom?: MakeRoom): Promise<FileContent>;
  stat(file: WorkspaceFile, call: PortRead): Promise<FileFacts>;
  /** In the order of the UTF-8 bytes of the paths; paths of folders end with a slash. */
  list(range: FileRange, call: PortRead): Promise<FileEntry[]>;
  /** Creates missing folders. Refuses with `file_too_large` and `fs_quota_exhausted`. */
  write(
    file: WorkspaceFile & FileContent & { readonly mode: WriteMode },
    call: PortWrite,
  ): Promise<{ path: string; sizeBytes: number }>;
  /** Also deletes folders that become empty. */
  delete(file: WorkspaceFile, call: PortWrite): Promise<{ deleted: boolean }>;
}

/** Limited by the size of one message between the host and pack code. */
export const FILE_BYTES_MAX = 32 * 1_048_576;

/** Per tenant. */
export interface FileRoom {
  readonly bytesMax: number;
  readonly filesMax: number;
}

/**
 * Counted for each name in a path in addition to the content: files and folders use a block on disk. Triggers
 * use the same number.
 */
export const NAME_BYTES = 1_024;
/** A listing reads all names of a folder, so this limits the cost of a page. */
export const FILES_MAX = 100_000;

/** The root of paths in packs; it reveals nothing about the machine. */
export const SANDBOX_ROOT = '/workspace';
