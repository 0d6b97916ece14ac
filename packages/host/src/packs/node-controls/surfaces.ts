import type { PackEffect } from '@gantry/engine';
import type { Owner } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import type { CallerWork } from '@gantry/surfaces';
import type { InvocationLog } from '../../runtime/invocation-log.ts';
import type { CallListeners } from '../../surfaces/call-journal.ts';
import type { Approve } from '../../tools/approval.ts';
import type { Members } from './members.ts';

/** The context of the calls of a surface. */
export interface SurfaceFacts extends CallListeners {
  readonly key: RunKey;
  readonly owner: Owner;
  readonly nodeId: string;
  readonly attempt: number;
  /** The node's journaled calls are numbered from here: see `Execution`. */
  readonly ordinalBase: number;
  readonly effect: PackEffect;
  readonly pack: { readonly name: string; readonly version: string };
  readonly peers: readonly string[];
  /** Its grants; without this member, grants are not checked. */
  readonly granted?: readonly string[];
  readonly signal: AbortSignal;
  readonly log: InvocationLog;
  /** Commits changes of the node; absent outside of a run. */
  readonly work?: CallerWork;
  /** Asks a person before a tool is called; absent outside of a run. */
  readonly approve?: Approve;
}

/** Members that the host offers to a node in addition to the built-in ones, which win where both have a path. */
export type Surfaces = (facts: SurfaceFacts) => Members;
