/** A thread that ends its process when the host is gone. The main thread may be inside a query and hear nothing. */
import { Socket } from 'node:net';
import { LIFELINE_FD } from './sqlite-wire.ts';

new Socket({ fd: LIFELINE_FD, readable: true, writable: false })
  .on('error', () => {})
  .on('close', () => process.kill(process.pid, 'SIGKILL'))
  .resume();
