/** Writes docs/capabilities.md from the literals: `node packages/surfaces/src/docs/write.ts`. */
import { writeFileSync } from 'node:fs';
import { SURFACES } from '../calls/catalogue.ts';
import { CAPABILITY_PAGE, capabilityPage } from './page.ts';

writeFileSync(CAPABILITY_PAGE, capabilityPage(SURFACES));
