/** A node tries to reveal the value of a credential. Returns everything that readers see of its run. */
import { randomUUID } from 'node:crypto';
import type { Api } from '@gantry/http';
import { DEBUG_BUNDLE_BYTES_MAX } from '@gantry/protocol';
import { personCaller } from '@gantry/resources';
import Type from 'typebox';
import type { Credentials } from '../../credentials/credentials.ts';
import type { ApiDeps } from '../context.ts';
import { debugBundle } from '../debug-bundle.ts';
import { readLog } from '../events.ts';
import { definition, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam } from './seam.ts';

const Echo = Type.Object({ canary: Type.String({ minLength: 8, maxLength: 1_024 }) });

export function credentialSeam(app: Api, deps: ApiDeps, drive: Drive, { service }: Credentials): void {
  seam(app, 'credentials/echo', Echo, async (caller, { canary }) => {
    const owner = personCaller(caller);
    const ref = `conformance-echo-${randomUUID()}`;
    await service.create(owner, { ref, scope: 'user', value: canary });
    try {
      const config = { secretId: ref, echo: true };
      const workflow = definition(seamId('credentials-echo'), [
        node('echo', 'conformance.secret.echo', { config }),
      ]);
      const key = await drive.start(caller, [workflow]);
      const read = await drive.atRest(key);
      const { events = [] } = (await readLog(deps.store, key, 0)) ?? {};
      const bundle = await debugBundle(
        deps.info,
        deps.now(),
        { read, events, total: events.length },
        DEBUG_BUNDLE_BYTES_MAX,
      );
      return {
        credentialRef: ref,
        runId: key.runId,
        status: read.snapshot.status,
        snapshot: read.snapshot,
        events: await drive.events(key),
        debugBundle: JSON.parse(bundle),
      };
    } finally {
      await service.remove(owner, ref);
    }
  });
}
