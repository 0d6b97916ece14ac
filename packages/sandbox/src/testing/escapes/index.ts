import { FILE_ESCAPES } from './files.ts';
import { GLOBAL_ESCAPES } from './globals.ts';
import { NETWORK_ESCAPES } from './network.ts';
import { PROCESS_ESCAPES } from './processes.ts';
import { RESOURCE_ESCAPES } from './resources.ts';
import { WIRE_ESCAPES } from './wire.ts';

export type { Escape } from './escape.ts';

export const ESCAPES = {
  files: FILE_ESCAPES,
  processes: PROCESS_ESCAPES,
  network: NETWORK_ESCAPES,
  globals: GLOBAL_ESCAPES,
  wire: WIRE_ESCAPES,
  resources: RESOURCE_ESCAPES,
} as const;
