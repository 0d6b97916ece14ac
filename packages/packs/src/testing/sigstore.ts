/** A Sigstore of our own: authority, certificate log and transparency log with keys made for the occasion. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { SigstoreTrust } from '../index.ts';

/** Who signs. */
type Identity = Pick<SigstoreTrust['signers'][number], 'issuer' | 'subject'>;

import { der } from './der.ts';

const ECDSA = der.sequence(der.oid('1.2.840.10045.4.3.2'));
const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const nameOf = (common: string): Buffer =>
  der.sequence(der.set(der.sequence(der.oid('2.5.4.3'), der.text(common))));
const extension = (oid: string, value: Uint8Array): Buffer =>
  der.sequence(der.oid(oid), der.boolean(), der.octets(value));

interface Subject {
  readonly name: string;
  readonly key: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

const ROOT = 'test authority';
const WINDOW = der.sequence(
  der.time(new Date('2026-01-01T00:00:00Z')),
  der.time(new Date('2027-01-01T00:00:00Z')),
);

const toBeSigned = ({ name, key, extensions }: Subject): Buffer =>
  der.sequence(
    der.explicit(0, der.integer(2)),
    der.integer(7),
    ECDSA,
    nameOf(ROOT),
    WINDOW,
    nameOf(name),
    spki(key),
    der.explicit(3, der.sequence(...extensions)),
  );

const certificate = (subject: Subject, issuerKey: KeyObject): Buffer => {
  const body = toBeSigned(subject);
  return der.sequence(body, ECDSA, der.bits(sign('sha256', body, issuerKey)));
};

const uint = (value: number | bigint, bytes: number): Buffer =>
  Buffer.from(
    BigInt(value)
      .toString(16)
      .padStart(bytes * 2, '0'),
    'hex',
  );
const opaque = (bytes: Uint8Array): Buffer => Buffer.concat([uint(bytes.length, 2), bytes]);

export class TestSigstore {
  readonly #authority = newKeys();
  readonly #certificateLog = newKeys();
  readonly #log = newKeys();
  readonly #at = new Date('2026-05-01T00:00:00Z');

  readonly #root: Buffer = certificate(
    {
      name: ROOT,
      key: this.#authority.publicKey,
      extensions: [
        extension('2.5.29.19', der.sequence(der.boolean())),
        extension('2.5.29.15', der.bits(Buffer.from([0x04]), 2)),
      ],
    },
    this.#authority.privateKey,
  );

  /** What an operator would configure. */
  trustedRoot(): object {
    const log = (key: KeyObject) => ({
      baseUrl: 'https://log.example',
      hashAlgorithm: 'SHA2_256',
      publicKey: {
        rawBytes: spki(key).toString('base64'),
        keyDetails: 'PKIX_ECDSA_P256_SHA_256',
        validFor: { start: '2026-01-01T00:00:00Z' },
      },
      logId: { keyId: sha256(spki(key)).toString('base64') },
    });
    return {
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      tlogs: [log(this.#log.publicKey)],
      ctlogs: [log(this.#certificateLog.publicKey)],
      certificateAuthorities: [
        {
          subject: { organization: 'test', commonName: ROOT },
          uri: 'https://authority.example',
          certChain: { certificates: [{ rawBytes: this.#root.toString('base64') }] },
          validFor: { start: '2026-01-01T00:00:00Z' },
        },
      ],
      timestampAuthorities: [],
    };
  }

  /** A bundle in which `identity` signs the message. */
  sign(message: Uint8Array, identity: Identity): object {
    const { publicKey, privateKey } = newKeys();
    const signature = sign('sha256', message, privateKey).toString('base64');
    const leaf = this.#leaf(publicKey, identity);
    return {
      mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
      verificationMaterial: {
        x509CertificateChain: { certificates: [{ rawBytes: leaf.toString('base64') }] },
        tlogEntries: [this.#logged(message, signature)],
      },
      messageSignature: {
        messageDigest: { algorithm: 'SHA2_256', digest: sha256(message).toString('base64') },
        signature,
      },
    };
  }

  #leaf(key: KeyObject, { issuer, subject }: Identity): Buffer {
    const known = [
      extension('2.5.29.15', der.bits(Buffer.from([0x80]), 7)),
      extension('2.5.29.17', der.sequence(der.implicit(6, Buffer.from(subject)))),
      extension('1.3.6.1.4.1.57264.1.8', der.text(issuer)),
    ];
    const precertificate = toBeSigned({ name: 'leaf', key, extensions: known });
    const timestamp = extension('1.3.6.1.4.1.11129.2.4.2', this.#timestamps(precertificate));
    return certificate({ name: 'leaf', key, extensions: [...known, timestamp] }, this.#authority.privateKey);
  }

  /** RFC 6962: the certificate log's promise, which is part of the certificate. */
  #timestamps(precertificate: Buffer): Buffer {
    const time = uint(this.#at.getTime(), 8);
    const issuer = sha256(spki(this.#authority.publicKey));
    const entry = Buffer.concat([issuer, uint(precertificate.length, 3), precertificate]);
    const signed = Buffer.concat([uint(0, 1), uint(0, 1), time, uint(1, 2), entry, uint(0, 2)]);
    const signature = sign('sha256', signed, this.#certificateLog.privateKey);
    const logId = sha256(spki(this.#certificateLog.publicKey));
    const promise = Buffer.concat([
      uint(0, 1),
      logId,
      time,
      uint(0, 2),
      Buffer.from([4, 3]),
      opaque(signature),
    ]);
    return der.octets(opaque(opaque(promise)));
  }

  #logged(message: Uint8Array, signature: string): object {
    const body = Buffer.from(
      JSON.stringify({
        apiVersion: '0.0.1',
        kind: 'hashedrekord',
        spec: {
          data: { hash: { algorithm: 'sha256', value: sha256(message).toString('hex') } },
          signature: { content: signature },
        },
      }),
    );
    const integratedTime = Math.floor(this.#at.getTime() / 1000);
    const id = sha256(spki(this.#log.publicKey));
    const entry = JSON.stringify({
      body: body.toString('base64'),
      integratedTime,
      logID: id.toString('hex'),
      logIndex: 1,
    });
    return {
      logIndex: '1',
      logId: { keyId: id.toString('base64') },
      kindVersion: { kind: 'hashedrekord', version: '0.0.1' },
      integratedTime: String(integratedTime),
      inclusionPromise: {
        signedEntryTimestamp: sign('sha256', Buffer.from(entry), this.#log.privateKey).toString('base64'),
      },
      canonicalizedBody: body.toString('base64'),
    };
  }
}
