// A certificate for the bench's model and the authority that signs it, made anew for each run: whoever is to trust it is told by
// NODE_EXTRA_CA_CERTS, as an operator tells Node of a company's own authority.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import forge from 'node-forge';

const DAY_MS = 86_400_000;

export interface CertificateFiles {
  authority: string;
  key: string;
  certificate: string;
}

interface Keys {
  pem: string;
  private: forge.pki.rsa.PrivateKey;
  public: forge.pki.rsa.PublicKey;
}

function makeKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return {
    pem: privateKey,
    private: forge.pki.privateKeyFromPem(privateKey),
    public: forge.pki.publicKeyFromPem(publicKey) as forge.pki.rsa.PublicKey,
  };
}

/** A certificate as PEM, good for a day. */
function sign(o: {
  serial: string;
  subject: string;
  issuer: string;
  key: forge.pki.rsa.PublicKey;
  by: forge.pki.rsa.PrivateKey;
  extensions: { name: string; [detail: string]: unknown }[];
}): string {
  const certificate = forge.pki.createCertificate();
  certificate.serialNumber = o.serial;
  certificate.publicKey = o.key;
  certificate.validity.notBefore = new Date(Date.now() - DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + DAY_MS);
  certificate.setSubject([{ name: 'commonName', value: o.subject }]);
  certificate.setIssuer([{ name: 'commonName', value: o.issuer }]);
  certificate.setExtensions(o.extensions);
  certificate.sign(o.by, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

/** Writes an authority's certificate, and one by it for 127.0.0.1 with its key, into `folder`. */
export function makeCertificate(folder: string): CertificateFiles {
  const issuer = 'Offhook bench, for one run';
  const authority = makeKeys();
  const model = makeKeys();
  const files = {
    authority: join(folder, 'authority.pem'),
    key: join(folder, 'key.pem'),
    certificate: join(folder, 'certificate.pem'),
  };
  writeFileSync(
    files.authority,
    sign({
      serial: '01',
      subject: issuer,
      issuer,
      key: authority.public,
      by: authority.private,
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    }),
  );
  writeFileSync(files.key, model.pem, { mode: 0o600 });
  writeFileSync(
    files.certificate,
    sign({
      serial: '02',
      subject: 'model',
      issuer,
      key: model.public,
      by: authority.private,
      extensions: [
        { name: 'basicConstraints', cA: false },
        { name: 'keyUsage', digitalSignature: true, keyEncipherment: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    }),
  );
  return files;
}
