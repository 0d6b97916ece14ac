import type { Client } from '@gantry/client';
import { type Finding, ok, warn } from './finding.ts';

const PAGES_MAX = 10;

/** A line for each connection that does not work, with the command that fixes it. */
export async function connectionFindings({ connections }: Pick<Client, 'connections'>): Promise<Finding[]> {
  const findings: Finding[] = [];
  let working = 0;
  let before: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const listed = await connections.list({ limit: 200, ...(before !== undefined && { before }) });
    for (const { connectionId, provider, state, reason = state, next } of listed.connections) {
      if (state === 'connected') working++;
      else
        findings.push(
          warn('connection', `${provider} (${connectionId}): ${reason}`, next && `Type: ${next}`),
        );
    }
    before = listed.nextBefore;
    if (before === undefined) break;
  }
  return working === 0 ? findings : [ok('connection', `${working} connected`), ...findings];
}

/** Packs whose provider cannot be connected, since the operator has not configured a client. */
export async function clientFindings({ packs }: Pick<Client, 'packs'>): Promise<Finding[]> {
  const found = new Set((await packs.list()).flatMap(({ warnings }) => warnings));
  return [...found].flatMap((warning) => {
    const [, what, next] = /^(Nobody can connect .*) (Type: .*)$/.exec(warning) ?? [];
    return what === undefined ? [] : [warn('connection', what, next)];
  });
}
