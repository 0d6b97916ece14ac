/** A self-signed certificate made on the spot: no key in the repository, no tool on the machine. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const size = Buffer.from(content.length.toString(16).padStart(4, '0'), 'hex');
  const length = content.length < 0x80 ? Buffer.of(content.length) : Buffer.concat([Buffer.of(0x82), size]);
  return Buffer.concat([Buffer.of(tag), length, content]);
};

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const octets = (content: Uint8Array) => der(0x04, content);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (date: Date) => der(0x17, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const BASIC_CONSTRAINTS = oid('551d13');
const SUBJECT_ALT_NAME = oid('551d11');
const TRUE = der(0x01, Buffer.of(0xff));
const DAY_MS = 86_400_000;

interface SubjectNames {
  readonly dns?: readonly string[];
  readonly ipv4?: readonly string[];
}

function extensions({ dns = [], ipv4 = [] }: SubjectNames): Buffer {
  const names = [
    ...dns.map((name) => der(0x82, Buffer.from(name))),
    ...ipv4.map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  return sequence(
    sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE))),
    sequence(SUBJECT_ALT_NAME, octets(sequence(...names))),
  );
}

/** `expired` certificates ended yesterday. */
export function selfSigned(names: SubjectNames & { readonly expired?: boolean }): {
  key: string;
  cert: string;
} {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from('egress test')))));
  const now = Date.now();
  const until = new Date(now + (names.expired ? -DAY_MS : DAY_MS));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(new Date(now - 2 * DAY_MS)), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions(names)),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey));
  const certificate = sequence(body, ECDSA_WITH_SHA256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}
