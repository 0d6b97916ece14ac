/** The format of log lines: ISO times and level names. */
import { type LoggerOptions, stdTimeFunctions } from 'pino';

export const READABLE: Pick<LoggerOptions, 'timestamp' | 'formatters'> = {
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
};
