import type { Client } from '@gantry/client';
import type { Credential } from '@gantry/protocol';
import { type Finding, ok, warn } from './finding.ts';

/** Credentials of connections have separate lines. */
const isOfConnection = ({ kind, ref }: Credential): boolean => kind === 'oauth2' && ref.startsWith('conn_');

/** A line for each credential that does not work, with the command that fixes it. */
export async function credentialFindings({ credentials }: Pick<Client, 'credentials'>): Promise<Finding[]> {
  const findings: Finding[] = [];
  let working = 0;
  for (let before: string | undefined; ; ) {
    const page = await credentials.list({ limit: 200, ...(before !== undefined && { before }) });
    for (const credential of page.credentials.filter((each) => !isOfConnection(each))) {
      const problem = problemOf(credential);
      if (problem) findings.push(warn('credential', `${credential.ref}: ${problem.what}`, problem.next));
      else working++;
    }
    if (page.nextBefore === undefined) break;
    before = page.nextBefore;
  }
  return working === 0 ? findings : [ok('credential', `${working} can be used`), ...findings];
}

function problemOf({
  ref,
  state,
  expiresAt,
  audiences,
  source,
}: Credential): { readonly what: string; readonly next: string } | null {
  const rotate = `Type: gantry credentials rotate ${ref}`;
  const remove = `Type: gantry credentials rm ${ref}`;
  switch (state) {
    case 'expired':
      return { what: `expired at ${expiresAt}`, next: rotate };
    case 'revoked':
      return { what: 'was revoked', next: remove };
    case 'unreadable':
      return source
        ? {
            what: `its value is not in ${source.store}:${source.name}`,
            next: WHERE[source.store](source.name),
          }
        : { what: 'its value was sealed for another database', next: rotate };
    case 'active':
      return audiences.length > 0
        ? null
        : {
            what: 'has no audience, so it is sent nowhere',
            next: `${remove}, then: gantry credentials add ${ref} --audience HOST`,
          };
  }
}

const WHERE = {
  env: (name: string) => `Start the host with ${name} in its environment and in GANTRY_SECRETS_ENV.`,
  files: (name: string) =>
    `Put the file ${name} into the folder of the tenant in GANTRY_SECRETS_DIR of the host.`,
} as const;
