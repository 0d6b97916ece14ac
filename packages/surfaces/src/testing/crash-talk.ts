/** What the process that is killed and the one that kills say to each other. */
import type { Data } from '../calls/data.ts';
import type { CrashCallGateOptions } from './crash-call-gate.ts';
import type { WorkName } from './crash-works.ts';

export interface ChildOptions extends CrashCallGateOptions {
  readonly works: readonly WorkName[];
}

export type FromChild = { readonly work: WorkName; readonly n: number } & (
  | { readonly kind: 'acked'; readonly answer: Data }
  | { readonly kind: 'doubted' }
  /** It will be asked for again. */
  | { readonly kind: 'refused'; readonly why: string }
);

/** The server is there again; or the work is to end. */
export type ToChild = 'back' | 'end';

/** Of each work. Its numbers are so far apart, and it asks for the next when it has told of the one before. */
export const LANES = 4;
