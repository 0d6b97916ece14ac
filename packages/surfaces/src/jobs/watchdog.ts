/** Ends its process when the host is gone or a job uses too much memory. The main thread may be inside a query. */
import { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { LIFELINE_FD, MEMORY_BYTES_MAX, MEMORY_SIGNAL } from './wire.ts';

const LOOK_MS = 10;
let watching: NodeJS.Timeout | undefined;

new Socket({ fd: LIFELINE_FD, readable: true, writable: false })
  .on('error', () => {})
  .on('close', () => process.kill(process.pid, 'SIGKILL'))
  .resume();

parentPort?.on('message', (isAtWork: boolean) => {
  clearInterval(watching);
  if (isAtWork) watching = setInterval(look, LOOK_MS);
});

function look(): void {
  if (process.memoryUsage.rss() > MEMORY_BYTES_MAX) process.kill(process.pid, MEMORY_SIGNAL);
}
