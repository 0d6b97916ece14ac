/** Prints the types of `ctx`: `gantry pack new` puts them beside the code. */
import { SURFACES } from '../calls/catalogue.ts';
import { ctxTypes } from './ctx-types.ts';

process.stdout.write(ctxTypes(SURFACES));
