/** Whose rights a new run has, for every way in which one comes to be, and whoever asks for it. */
import assert from 'node:assert/strict';
import { onEachDatabase } from '../testing/each-database.ts';
import { type Person, type RightsRig, rightsRig } from './testing/rights-rig.ts';
import { type Made, Refused, waysOf } from './testing/rights-ways.ts';

/**
 * [principal, personal credentials that its nodes get, its connection, the run whose budget counts, trust], or the
 * refusal, after which there is no run. `source`: where it comes from. The source belongs to ann and is untrusted; the
 * keys of dan are revoked after he began what starts a run later, and before he asks for what starts one at once.
 */
type Cell = readonly [string, string, string, string, string] | string;
const OWN = ['ann', 'of-ann', 'its own'] as const;
const BOB = ['bob', 'none', 'none'] as const;
const DAN = ['dan', 'none', 'none'] as const;
const RECORDED = ['as recorded', 'as recorded', 'source', 'untrusted'] as const;
const REVOKED = '401 key_revoked';
const UNKNOWN = '404 not_found';

const TABLE: Readonly<Record<string, Readonly<Record<string, Cell>>>> = {
  fork: {
    'its owner': [...OWN, 'source', 'untrusted'],
    'another key': [...BOB, 'source', 'untrusted'],
    'a revoked key': REVOKED,
    'another tenant': UNKNOWN,
  },
  branch: {
    'its owner': [...OWN, 'source', 'untrusted'],
    'another key': [...BOB, 'source', 'untrusted'],
    'a revoked key': REVOKED,
    'another tenant': UNKNOWN,
  },
  replay: {
    'its owner': ['ann', ...RECORDED],
    'another key': ['bob', ...RECORDED],
    'a revoked key': REVOKED,
    'another tenant': UNKNOWN,
  },
  repair: {
    'its owner': [...OWN, 'source', 'untrusted'],
    'another key': [...BOB, 'source', 'untrusted'],
    'a revoked key': REVOKED,
    'another tenant': UNKNOWN,
  },
  again: {
    'its owner': [...OWN, 'source', 'untrusted'],
    'another key': [...BOB, 'source', 'untrusted'],
    'a revoked key': REVOKED,
    'another tenant': UNKNOWN,
  },
  retry: {
    'its owner': [...OWN, 'source', 'untrusted'],
    'another key': [...BOB, 'source', 'untrusted'],
    'a revoked key': REVOKED,
    'another tenant': UNKNOWN,
  },
  schedule: {
    'its owner': [...OWN, 'its own', 'trusted'],
    'another key': [...BOB, 'its own', 'trusted'],
    'a revoked key': [...DAN, 'its own', 'trusted'],
    'another tenant': UNKNOWN,
  },
  trigger: {
    'its owner': [...OWN, 'its own', 'untrusted'],
    'another key': [...BOB, 'its own', 'untrusted'],
    'a revoked key': [...DAN, 'its own', 'untrusted'],
    'another tenant': UNKNOWN,
  },
  child: {
    'its owner': [...OWN, 'source', 'untrusted'],
    'another key': [...BOB, 'source', 'untrusted'],
    'a revoked key': [...DAN, 'source', 'untrusted'],
    'another tenant': '422 unknown_child_workflow',
  },
  dispatch: {
    'its owner': [...OWN, 'source', 'untrusted'],
    'another key': [...BOB, 'source', 'untrusted'],
    'a revoked key': [...DAN, 'source', 'untrusted'],
    'another tenant': 'unknown_child_workflow',
  },
};

/** What one sees of the run that this person makes in this way. */
async function cellOf(rig: RightsRig, finish: () => Promise<Made>): Promise<Cell> {
  try {
    const { runId, source } = await finish();
    const [principal, credentials, connection, budget, trust] = await rig.seen(runId);
    const counted = budget === source ? 'source' : budget!;
    return [principal!, credentials!, connection!, counted, trust!];
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

onEachDatabase('a new run has the rights of whoever asks for it', async (t, settings) => {
  const rig = await rightsRig(t, settings);
  const [ann, dan] = [await rig.equipped('ann'), await rig.equipped('dan')];
  const bob = await rig.person('bob');
  const eve = await rig.person('eve', { tenant: 'acme' });
  const ways = await waysOf(rig, ann);
  const seen: Record<string, Record<string, Cell>> = {};
  const begun: Record<string, () => Promise<Made>> = {};
  for (const [name, way] of Object.entries(ways)) begun[name] = await way(dan);
  await rig.request({ method: 'DELETE', url: `/v1/host/gantry/keys/${dan.keyId}` });
  for (const [name, way] of Object.entries(ways)) {
    const cell = (who: Person): Promise<Cell> => cellOf(rig, async () => (await way(who))());
    seen[name] = {
      'its owner': await cell(ann),
      'another key': await cell(bob),
      'a revoked key': await cellOf(rig, begun[name]!),
      'another tenant': await cell(eve),
    };
  }
  assert.deepEqual(seen, TABLE);
});
