/** The format of keys, and the tenant of test keys. */

import { hash } from 'node:crypto';

const LIVE_PREFIX = 'gk_';
const TEST_PREFIX = 'gk_test_';
const SECRET_BYTES = 32;

/** Test keys work in a separate test tenant: live keys never see its data. */
const TEST_TENANT_SUFFIX = '~test';

export const isTestTenant = (tenant: string): boolean => tenant.endsWith(TEST_TENANT_SUFFIX);
export const testTenant = (tenant: string): string => `${tenant}${TEST_TENANT_SUFFIX}`;
export const liveTenant = (tenant: string): string =>
  isTestTenant(tenant) ? tenant.slice(0, -TEST_TENANT_SUFFIX.length) : tenant;

/** Secrets are stored only as this: they are random, so that nobody finds them by trying. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex');

type RandomBytes = (count: number) => Uint8Array;

export function newSecret(tenant: string, randomBytes: RandomBytes): string {
  const random = Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
  return `${isTestTenant(tenant) ? TEST_PREFIX : LIVE_PREFIX}${random}`;
}

const newId = (prefix: string, randomBytes: RandomBytes): string =>
  `${prefix}_${Buffer.from(randomBytes(12)).toString('hex')}`;

export const newKeyId = (randomBytes: RandomBytes): string => newId('key', randomBytes);

/** A principal is opaque: it says nothing about the person or service. */
export const newPrincipal = (randomBytes: RandomBytes): string => newId('principal', randomBytes);
