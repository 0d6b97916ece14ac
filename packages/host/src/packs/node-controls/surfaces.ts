import type { PackEffect } from '@gantry/engine';
import type { RunKey } from '@gantry/store';
import type { CallerWork } from '@gantry/surfaces';
import type { InvocationLog } from '../../runtime/invocation-log.ts';
import type { CallListeners } from '../../surfaces/call-journal.ts';
import type { Approve } from '../../tools/approval.ts';
import type { Members } from './members.ts';

/** For whom and what a surface works. */
export interface SurfaceFacts extends CallListeners {
  readonly key: RunKey;
  readonly workspace: string | undefined;
  readonly principal: string | undefined;
  readonly nodeId: string;
  readonly attempt: number;
  /** The node's journaled calls are numbered from here: see `Execution`. */
  readonly ordinalBase: number;
  readonly effect: PackEffect;
  readonly pack: { readonly name: string; readonly version: string };
  readonly peers: readonly string[];
  /** What it was granted; without it nothing is held against it. */
  readonly granted?: readonly string[];
  readonly signal: AbortSignal;
  readonly log: InvocationLog;
  /** How changes of the node are committed; none outside of a run. */
  readonly work?: CallerWork;
  /** How a person is asked before a tool is called; none outside of a run. */
  readonly approve?: Approve;
}

/** What the host offers to a node beside the members that are built in; those win where both have a path. */
export type Surfaces = (facts: SurfaceFacts) => Members;
