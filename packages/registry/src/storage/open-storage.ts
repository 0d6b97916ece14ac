import path from 'node:path';
import { given } from '@gantry/protocol';
import { readS3Address, type S3Address } from '@gantry/store';
import { openFolderStorage } from './folder-storage.ts';
import { openS3Storage } from './s3-storage.ts';
import type { ArchiveStorage } from './storage.ts';

export type StorageSetting =
  | { readonly kind: 'folder'; readonly folder: string }
  | ({ readonly kind: 's3' } & S3Address);

/** `s3://bucket/prefix`, or a folder; undefined if it is neither. */
export function readStorageSetting(text: string, endpoint: string | undefined): StorageSetting | undefined {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) return { kind: 'folder', folder: text };
  if (!text.startsWith('s3://') || !URL.canParse(text)) return undefined;
  try {
    return { kind: 's3', ...readS3Address(new URL(text)), ...given({ endpoint }) };
  } catch {
    return undefined;
  }
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
