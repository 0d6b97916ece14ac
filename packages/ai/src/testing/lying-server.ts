/** A provider that answers with lies, in every dialect: which one, the model of a request says. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DIALECTS } from './dialects.ts';
import type { Told } from './lie.ts';
import { LIES } from './lies.ts';
import { type RawServer, startRawServer } from './raw-server.ts';

export interface LyingServer extends RawServer {
  /** How many requests asked for this lie, by the name of the dialect. */
  askedFor(dialect: string, lie: number): number;
}

/** The model that tells this lie, in a form that is part of a path. */
const PREFIX = 'lie-';
export const modelOf = (lie: number): string => `${PREFIX}${lie}`;

async function tell(
  response: ServerResponse,
  { status = 200, headers, chunks, afterwards = 'end' }: Told,
): Promise<void> {
  if (status !== 0) response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
  do {
    for (const chunk of chunks) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await sleep(1);
    }
    if (afterwards === 'repeat') await sleep(20);
  } while (afterwards === 'repeat' && !response.destroyed);
  if (afterwards === 'cut') response.destroy();
  if (afterwards === 'end') response.end();
}

export async function startLyingServer(): Promise<LyingServer> {
  const counts = new Map<string, number>();
  const server = await startRawServer(async (response, { path, body }) => {
    const asked = { path: new URL(path, 'http://unused').pathname, body: JSON.parse(body) };
    const { dialect } = DIALECTS.find((one) => one.dialect.modelOf(asked) !== undefined)!;
    const lie = Number(dialect.modelOf(asked)!.slice(PREFIX.length));
    const key = `${dialect.name} ${lie}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    await tell(response, LIES[lie]!.tell(dialect));
  });
  const askedFor = (dialect: string, lie: number): number => counts.get(`${dialect} ${lie}`) ?? 0;
  return Object.assign(server, { askedFor });
}
