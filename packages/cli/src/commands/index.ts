import type { Command } from '../command.ts';
import { cancel } from './cancel.ts';
import { doctor } from './doctor.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { keys } from './keys.ts';
import { pause } from './pause.ts';
import { resume } from './resume.ts';
import { run } from './run.ts';
import { runs } from './runs.ts';
import { start } from './start.ts';
import { workflows } from './workflows.ts';

/** In the order help shows them. */
export const COMMANDS: readonly Command[] = [
  start,
  run,
  runs,
  events,
  explain,
  cancel,
  pause,
  resume,
  workflows,
  keys,
  doctor,
];
