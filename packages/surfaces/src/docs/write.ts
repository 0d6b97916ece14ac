/** Writes what is made from the literals, into the project: `node packages/surfaces/src/docs/write.ts`. */
import { writeFileSync } from 'node:fs';
import { SURFACES } from '../catalogue.ts';
import { ctxTypes } from './ctx-types.ts';
import { capabilityPage } from './page.ts';
import { CAPABILITY_PAGE, CTX_TYPES } from './written.ts';

writeFileSync(CAPABILITY_PAGE, capabilityPage(SURFACES));
writeFileSync(CTX_TYPES, ctxTypes(SURFACES));
