/** A name server on loopback. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { TestContext } from 'node:test';

export interface NameServer {
  /** `address:port` */
  readonly address: string;
  /** Names that it was asked for, A and AAAA alike. */
  readonly asked: Set<string>;
}

const A = 1;

function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

/** Header, question and, for A, one record that points back to the name. */
function answerTo(query: Buffer, end: number, address: string | undefined): Buffer {
  const isA = query.readUInt16BE(end - 4) === A;
  const record = address !== undefined && isA;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(record ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  if (!record) return head;
  const octets = address.split('.').map(Number);
  return Buffer.concat([head, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...octets])]);
}

/** Knows these names, is silent about those under `.slow.example`, and denies the rest. */
export async function nameServer(
  t: Pick<TestContext, 'after'>,
  names: Readonly<Record<string, string>> = {},
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked = new Set<string>();
  socket.on('message', (query, { address, port }) => {
    const { name, end } = nameIn(query);
    asked.add(name);
    if (!name.endsWith('.slow.example')) socket.send(answerTo(query, end, names[name]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}
