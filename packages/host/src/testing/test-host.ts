/** A whole host in this process, for tests through the front door. */
import type { WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { createHost, type Host, type HostOptions } from '../host.ts';
import { readSettings, type Settings } from '../settings.ts';
import { TEST_KEY, temporaryFolder } from './host-process.ts';
import type { Lifetime } from './one-per-file.ts';

export interface TestHost {
  readonly host: Host;
  readonly dataDir: string;
  /** One request with the admin key unless the headers say otherwise. */
  request(options: InjectOptions): Promise<LightMyRequestResponse>;
}

export async function testHost(
  t: Lifetime,
  options: {
    settings?: Partial<Settings>;
    workflows?: readonly WorkflowDefinition[];
    store?: Store;
    now?: () => number;
    lease?: HostOptions['lease'];
    logTo?: HostOptions['logTo'];
    consoleFolder?: string;
  } = {},
): Promise<TestHost> {
  const folder = await temporaryFolder();
  const settings = {
    ...readSettings([], { GANTRY_ADMIN_KEY: TEST_KEY, GANTRY_LOG: 'silent', GANTRY_PORT: '0' }),
    dataDir: `${folder.path}/data`,
    workflowsDir: `${folder.path}/workflows`,
    ...options.settings,
  };
  const host = await createHost({
    settings,
    ...(options.store && { store: options.store }),
    ...(options.now && { now: options.now }),
    ...(options.lease && { lease: options.lease }),
    ...(options.logTo && { logTo: options.logTo }),
    ...(options.consoleFolder && { consoleFolder: options.consoleFolder }),
  });
  await host.services.start();
  t.after(async () => {
    await host.stop();
    await folder.remove();
  });
  const request = (inject: InjectOptions): Promise<LightMyRequestResponse> =>
    host.app.inject({ ...inject, headers: { authorization: `Bearer ${TEST_KEY}`, ...inject.headers } });
  for (const definition of options.workflows ?? []) {
    const response = await request({
      method: 'POST',
      url: '/v1/host/gantry/workflows',
      payload: JSON.stringify(definition),
      headers: { 'content-type': 'application/json' },
    });
    if (response.statusCode !== 201) throw new Error(`workflow ${definition.id}: ${response.body}`);
  }
  return { host, dataDir: settings.dataDir, request };
}
