/**
 * Files of many workspaces.
 *
 * I1  Nothing is ever seen or changed beyond the folder of `tenant` and `workspace`: no path, no link and no race
 *     leads out. What does not plainly name something inside is refused with `path_outside_sandbox`.
 * I2  A file is whole or absent: a read sees one write, never a part.
 * I3  A change is durable when it is answered. The same invocation again gets the first answer and changes nothing;
 *     a call of another method with its id is refused with `idempotency_key_mismatch`.
 */
import type { MakeRoom } from '../calls/content-room.ts';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';

export interface WorkspaceFile {
  readonly workspace: string;
  /** As the caller gave it. */
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
  /** The beginning of a path, which need not end at a slash. */
  readonly prefix: string;
  /** The last path of the page before. */
  readonly after: string | null;
  readonly limit: number;
  /** Files at every depth; else what lies directly behind the prefix, with folders. */
  readonly recursive: boolean;
  /** Also names that begin with a dot. */
  readonly hidden: boolean;
}

export type WriteMode = 'overwrite' | 'create-only' | 'append';

/** All refuse with `path_outside_sandbox` and `fs_permission_denied`; reads with `file_not_found` and `file_too_large`. */
export interface FilesPort {
  /** Asks for room when it knows the size and has read nothing yet. */
  read(file: WorkspaceFile, call: PortRead, makeRoom?: MakeRoom): Promise<FileContent>;
  stat(file: WorkspaceFile, call: PortRead): Promise<FileFacts>;
  /** In the order of the UTF-8 bytes of the paths; those of folders end with a slash. */
  list(range: FileRange, call: PortRead): Promise<FileEntry[]>;
  /** Makes the folders on the way. Refuses with `file_too_large` and `fs_quota_exhausted`. */
  write(
    file: WorkspaceFile & FileContent & { readonly mode: WriteMode },
    call: PortWrite,
  ): Promise<{ path: string; sizeBytes: number }>;
  /** Folders that become empty go too. */
  delete(file: WorkspaceFile, call: PortWrite): Promise<{ deleted: boolean }>;
}

/** What fits into one message between the host and pack code. */
export const FILE_BYTES_MAX = 32 * 1_048_576;

/** For each tenant. */
export interface FileRoom {
  readonly bytesMax: number;
  readonly filesMax: number;
}

/** Counted for each name in a path beside the content: files and folders take a block on disk. Triggers have it too. */
export const NAME_BYTES = 1_024;
/** A listing reads the names of a whole folder, so this bounds what a page may cost. */
export const FILES_MAX = 100_000;

/** The root of paths as packs see them; it reveals nothing of the machine. */
export const SANDBOX_ROOT = '/workspace';
