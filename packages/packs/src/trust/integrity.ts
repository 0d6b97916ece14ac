import { createHash } from 'node:crypto';

/** SRI as registries, lockfiles and workflow pins write it: one SHA-256, nothing weaker beside it. */
export const INTEGRITY = /^sha256-[A-Za-z0-9+/]{43}=$/;

export const integrityOf = (bytes: Uint8Array): string =>
  `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
