import type { Command } from '../command.ts';
import { derivedCommands } from '../derived-command.ts';
import { ai } from './ai.ts';
import { answer } from './answer.ts';
import { approvals } from './approvals.ts';
import { approve } from './approve.ts';
import { artifacts } from './artifacts.ts';
import { cancel } from './cancel.ts';
import { connections } from './connections.ts';
import { connectors } from './connectors.ts';
import { credentials } from './credentials.ts';
import { deadLetters } from './dead-letters.ts';
import { diff } from './diff.ts';
import { doctor } from './doctor.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { fork } from './fork.ts';
import { heartbeats } from './heartbeats.ts';
import { keys } from './keys.ts';
import { open } from './open.ts';
import { pack } from './pack/pack.ts';
import { pause } from './pause.ts';
import { registry } from './registry/registry.ts';
import { reject } from './reject.ts';
import { repair, rerun } from './repair.ts';
import { resume } from './resume.ts';
import { run } from './run.ts';
import { runs } from './runs.ts';
import { schedules } from './schedules.ts';
import { start } from './start.ts';
import { tree } from './tree.ts';
import { triggers } from './triggers.ts';
import { usage } from './usage.ts';
import { webhooks } from './webhooks.ts';
import { workflows } from './workflows.ts';

const WRITTEN: readonly Command[] = [
  start,
  open,
  run,
  runs,
  events,
  explain,
  artifacts,
  usage,
  tree,
  approvals,
  approve,
  reject,
  answer,
  cancel,
  pause,
  resume,
  repair,
  rerun,
  fork,
  diff,
  workflows,
  pack,
  registry,
  schedules,
  heartbeats,
  triggers,
  webhooks,
  connections,
  deadLetters,
  credentials,
  ai,
  connectors,
];

/** In the order help shows them. */
export const COMMANDS: readonly Command[] = [...WRITTEN, ...derivedCommands(WRITTEN), keys, doctor];
