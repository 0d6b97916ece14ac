import { OpenwopError } from '@gantry/protocol';
import type { Converter } from '../capabilities/fs/convert/converter.ts';

/** For those who need none. */
export const NO_CONVERTER: Converter = {
  lacks: ['image', 'pdf', 'archive'],
  run: () => Promise.reject(new OpenwopError('host_capability_missing')),
};
