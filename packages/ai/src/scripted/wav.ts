/** A tone with its text as the comment of the file, so that the provider that created it can read it back. */
const RATE = 8_000;
const SAMPLES_PER_CHARACTER = 400;
const SAMPLES_MAX = 60 * RATE;
const PERIOD = 20;

function chunk(type: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

export function spoken(text: string): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(RATE, 4);
  format.writeUInt32LE(RATE, 8);
  format.writeUInt16LE(1, 12);
  format.writeUInt16LE(8, 14);
  const samples = Buffer.alloc(Math.min(text.length * SAMPLES_PER_CHARACTER, SAMPLES_MAX));
  for (let at = 0; at < samples.length; at++) samples[at] = at % PERIOD < PERIOD / 2 ? 112 : 144;
  const comment = Buffer.concat([Buffer.from('INFO'), chunk('ICMT', Buffer.from(text))]);
  const chunks = [chunk('fmt ', format), chunk('LIST', comment), chunk('data', samples)];
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
}

/** Undefined for sound that was not created here. */
export function heardIn(bytes: Uint8Array): { readonly text: string; readonly seconds: number } | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = data.indexOf('ICMT', 0, 'latin1');
  if (data.toString('latin1', 0, 4) !== 'RIFF' || at < 0 || at + 8 > data.length) return undefined;
  const length = data.readUInt32LE(at + 4);
  const rest = data.length - (at + 8 + length + (length % 2) + 8);
  return { text: data.toString('utf8', at + 8, at + 8 + length), seconds: Math.max(0, rest) / RATE };
}
