import { BASE32 } from '../../domain/second-factor.ts';
import { textOf } from './fields.ts';
import { type Linked, WITHOUT_FACTOR } from './system-export.ts';

/** Providers whose issuer does not depend on who uses them. GitHub has none: it is the one that this service gives it. */
const ISSUERS: Readonly<Record<string, string>> = {
  google: 'https://accounts.google.com',
  apple: 'https://appleid.apple.com',
  github: 'https://github.com',
};
/** Names for what is no link: the user's own password, address or phone number. */
const OWN = ['auth0', 'email', 'sms', 'phone', 'password', 'credential'];
/** Names that systems have for Microsoft. */
const MICROSOFT = ['microsoft', 'azure', 'azuread', 'waad', 'windowslive', 'entra'];

/**
 * The link of a user to a provider, or why it stays out.
 * @param name `google`, also as `google.com`, `google-oauth2` or `oauth_google`.
 * @param subject the claim `sub` of the provider.
 * @param issuer where the system has stored it.
 */
export const linkTo = (name: unknown, subject: unknown, email?: unknown, issuer?: string): Linked => {
  const called = (textOf(name) ?? '').toLowerCase().replace(/^oauth_|\.com$|-oauth2$/g, '');
  const provider = MICROSOFT.includes(called) ? 'microsoft' : called;
  if (OWN.includes(provider)) return {};
  const of = issuer ?? (Object.hasOwn(ISSUERS, provider) ? ISSUERS[provider] : undefined);
  const sub = textOf(subject);
  if (of !== undefined && sub !== undefined)
    return { identities: [{ issuer: of, subject: sub, provider, email: textOf(email) }] };
  const reason =
    provider === 'microsoft'
      ? 'its issuer and subject depend on the tenant and the application, and are not in the export'
      : 'it is not known as an OpenID provider';
  return { notes: [`The link to the provider ${called.slice(0, 64)} is left out: ${reason}.`] };
};

/** A TOTP secret in Base32. Everything else, such as one that is encrypted, stays out. */
export const totpFactor = (secret: unknown): Linked => {
  const text = textOf(secret)?.replaceAll(/[\s=]/g, '') ?? '';
  return /^[A-Z2-7]+$/i.test(text) ? { factors: [{ secret: text }] } : LEFT_OUT;
};

const LEFT_OUT = { notes: [WITHOUT_FACTOR] };

/** RFC 4648 §6, without padding. */
export const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};
