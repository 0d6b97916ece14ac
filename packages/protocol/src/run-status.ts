/** Separate from the schemas, so that a thread that needs only this loads only this. */
export const RUN_STATUSES = [
  'pending',
  'running',
  'paused',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
] as const;
type RunStatus = (typeof RUN_STATUSES)[number];

const TERMINAL: ReadonlySet<string> = new Set<RunStatus>(['completed', 'failed', 'cancelled']);
export const isTerminal = (status: RunStatus): boolean => TERMINAL.has(status);
