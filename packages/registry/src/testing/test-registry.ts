/** A whole registry in this process, for tests through the front door. */

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { ArchiveLimits } from '@gantry/packs';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import type { Logger } from 'pino';
import type { ArrivalTerms } from '../publish/arrival.ts';
import { createRegistryServer, type RegistryServer } from '../server.ts';
import { readSettings, type Settings } from '../settings.ts';

export const ADMIN_KEY = 'gk_admin_0123456789abcdef0123456789abcdef';

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-registry-'));
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface TestRegistry {
  readonly server: RegistryServer;
  readonly dataDir: string;
  /** One request with the admin key unless another is given; '' sends none. */
  request(options: InjectOptions, key?: string): Promise<LightMyRequestResponse>;
  /** Names of every file in the storage, temporary ones too. */
  stored(): Promise<string[]>;
}

export interface TestRegistryOptions {
  readonly settings?: Partial<Settings>;
  readonly limits?: ArchiveLimits;
  readonly now?: () => number;
  readonly arrival?: ArrivalTerms;
  readonly log?: Logger;
  /** A folder of the caller's, which stays. */
  readonly dataDir?: string;
}

export async function testRegistry(
  t: Pick<TestContext, 'after'>,
  options: TestRegistryOptions = {},
): Promise<TestRegistry> {
  const folder = await temporaryFolder();
  const dataDir = options.dataDir ?? folder.path;
  const settings: Settings = {
    ...readSettings(['--data', dataDir], { GANTRY_ADMIN_KEY: ADMIN_KEY, GANTRY_LOG: 'silent' }),
    testSeams: true,
    publicUrl: 'https://packs.example.org',
    ...options.settings,
  };
  const { limits, now, arrival, log } = options;
  const server = await createRegistryServer({
    settings,
    ...(limits && { limits }),
    ...(arrival && { arrival }),
    ...(now && { now }),
    ...(log && { log }),
  });
  await server.prepare();
  t.after(async () => {
    await server.stop();
    await folder.remove();
  });
  return {
    server,
    dataDir,
    request: (inject, key = ADMIN_KEY) =>
      server.app.inject({
        ...inject,
        headers: { ...(key !== '' && { authorization: `Bearer ${key}` }), ...inject.headers },
      }),
    stored: () => storedIn(path.join(dataDir, 'packs')),
  };
}

export async function storedIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Makes an API key for a tenant, and answers its secret. */
export async function apiKey(
  { request }: Pick<TestRegistry, 'request'>,
  tenant: string,
  scopes: readonly string[] = ['packs:publish'],
  more: { readonly test?: boolean } = {},
): Promise<string> {
  const response = await request({
    method: 'POST',
    url: '/v1/host/gantry/keys',
    payload: { name: `${tenant} publisher`, tenant, scopes, ...more },
  });
  if (response.statusCode !== 201) throw new Error(response.body);
  return response.json().key;
}

export interface Publication {
  readonly name?: string;
  readonly version?: string;
  readonly bytes: Uint8Array;
  readonly namespace?: 'packs' | 'packs-test';
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

export const publish = (
  { request }: Pick<TestRegistry, 'request'>,
  { name = 'vendor.acme.tools', version = '1.0.0', bytes, namespace = 'packs', headers, key }: Publication,
): Promise<LightMyRequestResponse> =>
  request(
    {
      method: 'PUT',
      url: `/v1/${namespace}/${name}/-/${version}.tgz`,
      payload: Buffer.from(bytes),
      headers: { 'content-type': 'application/gzip', ...headers },
    },
    key,
  );
