import { surfaceCrashContract } from '../ports/surface-crash-contract.ts';
import { findCrashS3 } from '../testing/crash-servers.ts';
import { useTestCredentials } from '../testing/s3.ts';

useTestCredentials();

surfaceCrashContract('S3', findCrashS3(), { works: ['blobs'], settingsOf: (url) => ({ blobs: url }) });
