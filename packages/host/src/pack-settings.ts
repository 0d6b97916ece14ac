/** Settings about packs that need more than a glance. */
import { SettingsError } from '@gantry/http';
import type { Settings } from './settings.ts';

export function signaturesOf(text = 'manifest'): Settings['packSignatures'] {
  if (text === 'manifest' || text === 'files') return text;
  throw new SettingsError(`GANTRY_PACK_SIGNATURES must be manifest or files, not "${text}".`);
}

/** Settings of the host itself hold its secrets, so no pack ever sees one. */
export function environmentOf(
  pairs: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings['packEnvironment'] {
  const byPack: Record<string, Record<string, string>> = {};
  for (const pair of pairs) {
    const [pack = '', variable = '', ...rest] = pair.split(':');
    if (pack === '' || variable === '' || rest.length > 0)
      throw new SettingsError(
        `GANTRY_PACK_ENV: "${pair}" is not PACK:VARIABLE, such as vendor.acme.crm:CRM_REGION.`,
      );
    if (variable.startsWith('GANTRY_'))
      throw new SettingsError(`GANTRY_PACK_ENV must not name ${variable}: packs see no settings.`);
    const value = env[variable];
    byPack[pack] = { ...byPack[pack], ...(value !== undefined && { [variable]: value }) };
  }
  return byPack;
}
