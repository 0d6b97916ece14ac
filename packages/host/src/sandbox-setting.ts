/** Where packs run, and as whom. */
import { SettingsError } from '@gantry/http';
import { DEFAULT_UIDS, type UidRange } from '@gantry/sandbox';

/** As many processes as a host has at most, and some. */
const UIDS_MIN = 64;
const UID_MAX = 2 ** 32 - 2;

export function isolationOf(text = 'os'): 'os' | 'permission-only' {
  if (text === 'os' || text === 'permission-only') return text;
  throw new SettingsError(`GANTRY_SANDBOX must be os or permission-only, not "${text}".`);
}

export function uidsOf(text: string | undefined): UidRange {
  if (text === undefined) return DEFAULT_UIDS;
  const [, first = 0, last = 0] = (/^(\d+)-(\d+)$/.exec(text) ?? []).map(Number);
  if (first > 0 && last <= UID_MAX && last - first + 1 >= UIDS_MIN) return { first, last };
  throw new SettingsError(
    `GANTRY_SANDBOX_UIDS must be a range of at least ${UIDS_MIN} uids that nobody else has, such as 61184-65519, not "${text}".`,
  );
}
