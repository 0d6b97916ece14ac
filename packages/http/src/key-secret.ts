/** The format of keys, and the tenant of test keys. */

const LIVE_PREFIX = 'gk_';
const TEST_PREFIX = 'gk_test_';
const SECRET_BYTES = 32;

/** Test keys work in a separate test tenant: live keys never see its data. */
const TEST_TENANT_SUFFIX = '~test';

export const isTestTenant = (tenant: string): boolean => tenant.endsWith(TEST_TENANT_SUFFIX);
export const testTenant = (tenant: string): string => `${tenant}${TEST_TENANT_SUFFIX}`;
export const liveTenant = (tenant: string): string =>
  isTestTenant(tenant) ? tenant.slice(0, -TEST_TENANT_SUFFIX.length) : tenant;

type RandomBytes = (count: number) => Uint8Array;

export function newSecret(tenant: string, randomBytes: RandomBytes): string {
  const random = Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
  return `${isTestTenant(tenant) ? TEST_PREFIX : LIVE_PREFIX}${random}`;
}

export const newKeyId = (randomBytes: RandomBytes): string =>
  `key_${Buffer.from(randomBytes(12)).toString('hex')}`;
