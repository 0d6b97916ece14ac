import { type OpenedPort, openPort, SETTINGS } from '../open-port.ts';
import type { BlobPort } from '../ports/blobs.ts';
import { openS3Blobs } from '../s3/blobs.ts';
import { readS3Address } from '../s3/connect.ts';

/** `s3://bucket/prefix?endpoint=https://…&region=…` */
export const openBlobs = (
  setting: string | undefined,
  { embedded }: { readonly embedded: BlobPort },
): Promise<OpenedPort<BlobPort>> =>
  openPort({
    name: SETTINGS.blobs,
    value: setting,
    embedded,
    backends: {
      async s3(url) {
        const port = await openS3Blobs(readS3Address(new URL(url)));
        return { kind: 's3', port, health: port.health };
      },
    },
  });
