/** Every client socket of this process, and whether egress opened it. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { OPENED } from '../connect.ts';

export interface WatchedSockets {
  /** All that were opened since. */
  readonly all: ReadonlySet<Socket>;
  /** Those that something else than egress opened. */
  foreign(): Socket[];
}

export function watchSockets(t: Pick<TestContext, 'after'>): WatchedSockets {
  const [all, ours] = [new Set<Socket>(), new Set<Socket>()];
  const noted = (set: Set<Socket>) => (message: unknown) =>
    void set.add((message as { socket: Socket }).socket);
  const channels = [
    ['net.client.socket', noted(all)],
    [OPENED, noted(ours)],
  ] as const;
  for (const [name, listener] of channels) subscribe(name, listener);
  t.after(() => {
    for (const [name, listener] of channels) unsubscribe(name, listener);
  });
  return { all, foreign: () => [...all].filter((socket) => !ours.has(socket)) };
}
