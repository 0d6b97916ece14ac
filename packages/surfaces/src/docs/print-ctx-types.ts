/** Prints the types of `ctx`: `gantry pack new` writes them next to the code. */
import { SURFACES } from '../calls/catalogue.ts';
import { ctxTypes } from './ctx-types.ts';

process.stdout.write(ctxTypes(SURFACES));
