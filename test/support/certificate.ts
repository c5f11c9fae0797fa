import 'reflect-metadata';
import { KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 86_400_000;

/** A certificate in PEM, and its key. */
export type Certificate = { readonly cert: string; readonly key: string };

/**
 * A self-signed certificate (RFC 5280) for a DNS name or an IPv4 address, and its key.
 * @param at epoch milliseconds. The certificate is valid from a day before this time to a day after it. Default: now.
 */
export const selfSigned = async (name: string, at = Date.now()): Promise<Certificate> => {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...{ name: `CN=${name}`, keys, signingAlgorithm: ALGORITHM },
    ...{ notBefore: new Date(at - DAY), notAfter: new Date(at + DAY) },
    extensions: [
      new BasicConstraintsExtension(true),
      new SubjectAlternativeNameExtension([{ type: isIPv4(name) ? 'ip' : 'dns', value: name }]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: certificate.toString('pem'), key };
};
