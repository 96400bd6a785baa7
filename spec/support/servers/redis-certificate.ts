import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for 127.0.0.1 that vouches for itself. */
export interface Certificate {
  /** Settings for a server that speaks TLS only, on this port. */
  settings(port: number): string[];
  /** PEM; what a client must trust. */
  readonly authority: string;
  /** PEM of its private key. */
  readonly key: string;
  remove(): void;
}

export function makeCertificate(): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'bindonce-tls-'));
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=127.0.0.1',
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      key,
      '-out',
      certificate,
    ],
    { stdio: 'pipe' },
  );
  return {
    settings: port => [
      '--port',
      '0',
      '--tls-port',
      String(port),
      '--tls-cert-file',
      certificate,
      '--tls-key-file',
      key,
      '--tls-ca-cert-file',
      certificate,
      '--tls-auth-clients',
      'no',
    ],
    authority: readFileSync(certificate, 'utf8'),
    key: readFileSync(key, 'utf8'),
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
