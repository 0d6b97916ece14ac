/** Certificates for servers of tests, made with `openssl`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { binary, missing, run } from './servers.ts';

const openssl = binary('openssl');

export const certificateSkip: string | false = openssl
  ? false
  : missing('openssl', 'install openssl on this machine');

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** For `DNS:localhost` or `IP:127.0.0.1`. */
  sign(name: string, days?: number): Certificate;
  /** From now on this process knows it. */
  trust(): void;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** In a folder that is there. */
export function createAuthority(folder: string, subject = 'authority'): Authority {
  const pathOf = (name: string, ending: string): string => join(folder, `${subject}-${name}.${ending}`);
  const ask = (...args: string[]): void => run(openssl ?? 'openssl', args, { cwd: folder });
  const [key, cert] = [pathOf('ca', 'key'), pathOf('ca', 'pem')];
  ask('req', '-x509', ...KEY, '-keyout', key, '-out', cert, '-days', '30', '-subj', `/CN=${subject}`);
  let signed = 0;
  return {
    sign(name, days = 30) {
      const own = `server${++signed}`;
      const made = { cert: pathOf(own, 'pem'), key: pathOf(own, 'key') };
      const [request, extensions] = [pathOf(own, 'csr'), pathOf(own, 'ext')];
      writeFileSync(extensions, `subjectAltName=${name}\nbasicConstraints=CA:FALSE\n`);
      ask('req', ...KEY, '-keyout', made.key, '-out', request, '-subj', '/CN=server');
      const by = ['-CA', cert, '-CAkey', key, '-CAcreateserial', '-days', String(days)];
      ask('x509', '-req', '-in', request, '-out', made.cert, '-extfile', extensions, ...by);
      return made;
    },
    trust: () => setDefaultCACertificates([...getCACertificates('default'), readFileSync(cert, 'utf8')]),
  };
}
