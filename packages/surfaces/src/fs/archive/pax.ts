/** PAX headers: what they say of the next entry in place of its own header. */
import { damaged, nameOf } from './contents.ts';

export interface Extended {
  readonly path?: string;
  readonly size?: number;
}

export const NOTHING_EXTENDED: Extended = {};

const SPACE = 0x20;
const EQUALS = 0x3d;
const NEWLINE = 0x0a;

/** Records are written `27 path=reports/july.csv` and a newline; the number is the length of all of it. */
export function paxOf(content: Buffer): Extended {
  let extended: Extended = {};
  for (let at = 0; at < content.byteLength; ) {
    const space = content.indexOf(SPACE, at);
    const digits = space === -1 ? '' : content.toString('latin1', at, Math.min(space, at + 9));
    const end = at + Number(digits);
    const equals = content.indexOf(EQUALS, space);
    if (!/^[1-9]\d*$/.test(digits) || equals === -1 || equals >= end || content[end - 1] !== NEWLINE)
      throw damaged('has a header of PAX that is damaged');
    const key = content.toString('latin1', space + 1, equals);
    extended = { ...extended, ...meaningOf(key, content.subarray(equals + 1, end - 1)) };
    at = end;
  }
  return extended;
}

function meaningOf(key: string, value: Buffer): Extended {
  if (key === 'path') return { path: nameOf(value) };
  if (key.startsWith('GNU.sparse.')) throw damaged('has files with holes; pack it without --sparse');
  if (key !== 'size') return NOTHING_EXTENDED;
  const digits = value.toString('latin1');
  if (!/^\d{1,15}$/.test(digits)) throw damaged('has a header of PAX with a size that is none');
  return { size: Number(digits) };
}
