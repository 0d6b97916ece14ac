/** An advisory that this registry publishes. Its schema is stricter than that of readers. */
import { exposures, SecurityAdvisory } from '@gantry/packs';
import { closedObject, invalid, type OpenwopError } from '@gantry/protocol';
import semver from 'semver';
import Type, { type Static } from 'typebox';
import type { Catalogue, PublishedVersion } from '../catalogue/catalogue.ts';

const Day = Type.String({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' });
const WebAddress = Type.String({ maxLength: 2048, pattern: '^https://[^\\s]+$' });

const Credit = closedObject({
  name: Type.String({ minLength: 1, maxLength: 256 }),
  url: Type.Optional(WebAddress),
  role: Type.Optional(Type.Enum(['finder', 'reporter', 'analyst', 'coordinator', 'remediation-developer'])),
});

export const PublishedAdvisory = closedObject({
  ...SecurityAdvisory.properties,
  publishedAt: Day,
  updatedAt: Type.Optional(Day),
  details: Type.Optional(Type.String({ maxLength: 16_384 })),
  advisoryUrl: Type.Optional(WebAddress),
  cveIds: Type.Optional(
    Type.Array(Type.String({ maxLength: 32, pattern: '^CVE-[0-9]{4}-[0-9]+$' }), {
      maxItems: 50,
      uniqueItems: true,
    }),
  ),
  cvssV4Score: Type.Optional(Type.Number({ minimum: 0, maximum: 10 })),
  credits: Type.Optional(Type.Array(Credit, { maxItems: 100 })),
});
export type PublishedAdvisory = Static<typeof PublishedAdvisory>;

const refused = (field: string, problem: string): OpenwopError =>
  invalid(`body/${field} ${problem}.`, { fields: [{ field: `body/${field}`, problem }] });

/** The published versions that the advisory affects. Throws if it names an unknown pack or an invalid range. */
export async function affectedVersions(
  catalogue: Pick<Catalogue, 'summary' | 'versions'>,
  advisory: PublishedAdvisory,
): Promise<PublishedVersion[]> {
  for (const [index, { packName, versions }] of advisory.affected.entries()) {
    if (catalogue.summary(packName) === undefined)
      throw refused(`affected/${index}/packName`, 'is not a pack of this registry');
    if (semver.validRange(versions) === null)
      throw refused(`affected/${index}/versions`, 'is not a range of versions, such as `<1.0.1`');
  }
  const names = [...new Set(advisory.affected.map(({ packName }) => packName))];
  const published = await Promise.all(names.map((name) => catalogue.versions(name)));
  return published.flat().filter((version) => exposures(version, [advisory]).length > 0);
}
