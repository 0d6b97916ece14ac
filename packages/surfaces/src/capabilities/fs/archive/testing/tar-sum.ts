/** A header of a tar file with the sum that belongs to it. */
export function withSum(header: Buffer): Buffer {
  const made = Buffer.from(header);
  made.fill(' ', 148, 156);
  const sum = made.reduce((total, byte) => total + byte, 0);
  made.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return made;
}
