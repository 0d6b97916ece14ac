import path from 'node:path';
import { openFolderStorage } from './folder-storage.ts';
import { openS3Storage } from './s3-storage.ts';
import type { ArchiveStorage } from './storage.ts';

export type StorageSetting =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string; readonly endpoint?: string };

const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9!_.*'()/-]*))?$/;

/** `s3://bucket/prefix`, or a folder; undefined if it is neither. */
export function readStorageSetting(text: string, endpoint: string | undefined): StorageSetting | undefined {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) return { kind: 'folder', folder: text };
  const [, bucket, prefix = ''] = S3.exec(text) ?? [];
  if (bucket === undefined) return undefined;
  const folder = prefix.replace(/^\/+|\/+$/g, '');
  return {
    kind: 's3',
    bucket,
    prefix: folder === '' ? '' : `${folder}/`,
    ...(endpoint !== undefined && { endpoint }),
  };
}

/** Uploads to a bucket are spooled in `dataDir`. */
export function openStorage(
  setting: StorageSetting,
  { dataDir, now }: { readonly dataDir: string; readonly now: () => number },
): ArchiveStorage {
  if (setting.kind === 'folder') return openFolderStorage({ folder: setting.folder, now });
  const { kind: _, ...bucket } = setting;
  return openS3Storage({ ...bucket, spoolFolder: path.join(dataDir, 'spool'), now });
}
