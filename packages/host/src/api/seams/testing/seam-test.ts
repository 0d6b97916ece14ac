/** A host that serves the seams. */
import assert from 'node:assert/strict';
import type { Lifetime } from '../../../testing/one-per-file.ts';
import { apiTest } from '../../testing/api-test.ts';

type SeamTestOptions = Pick<NonNullable<Parameters<typeof apiTest>[1]>, 'settings' | 'now'>;

export async function seamTest(t: Lifetime, options: SeamTestOptions = {}) {
  const { settings, ...rest } = options;
  const api = await apiTest(t, { ...rest, settings: { testSeams: true, ...settings } });
  return {
    ...api,
    /** The answer of a seam, which must be a good one. */
    async drive(seam: string, body: object) {
      const response = await api.post(`/v1/host/sample/${seam}`, body);
      assert.equal(response.statusCode, 200, response.body);
      return response.json();
    },
  };
}

export type SeamTest = Awaited<ReturnType<typeof seamTest>>;
