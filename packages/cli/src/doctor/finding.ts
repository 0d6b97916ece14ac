/** What one check of `gantry doctor` found. */
export interface Finding {
  readonly name: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do about it. */
  readonly next?: string;
}
