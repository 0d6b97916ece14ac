/** What a process and who started it have agreed on. */

/** The file descriptor whose end tells the process that its host is gone. */
export const LIFELINE_FD = 4;

/** Of a process at work, all in all. */
export const MEMORY_BYTES_MAX = 536_870_912;
/** How a process ends that took more. */
export const MEMORY_SIGNAL = 'SIGUSR2';
