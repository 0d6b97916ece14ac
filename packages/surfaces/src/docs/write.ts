/** Writes `docs/capabilities.md` of the project: `node packages/surfaces/src/docs/write.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURFACES } from '../catalogue.ts';
import { capabilityPage } from './page.ts';

const file = join(import.meta.dirname, '../../../../docs/capabilities.md');
writeFileSync(file, capabilityPage(SURFACES));
