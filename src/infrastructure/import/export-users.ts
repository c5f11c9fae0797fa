import { exportedHash } from '../../adapters/crypto/foreign/storable-hash.ts';
import type { FactorSecrets } from '../../application/ports/secrets.ts';
import { factorsOf, identitiesOf } from '../../application/storage/credentials.ts';
import type { Records } from '../../application/storage/records.ts';
import { rowsOf } from '../../application/storage/rows.ts';
import type { Identity } from '../../domain/identity.ts';
import { UNKNOWN_PASSWORD } from '../../domain/password.ts';
import { isConfirmed } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import type { LineInput } from './line.ts';

/** All users in the order of their ids, in the form that `import` reads. `lacksFactor`: an authenticator app is left out, since no key decrypts its secret. */
export async function* exportedUsers(records: Records, secrets: FactorSecrets | null) {
  for await (const user of rowsOf(records, 'users')) {
    const apps = (await factorsOf(records, user.id)).filter(isConfirmed);
    const appSecrets = apps.flatMap(({ secret }) => secrets?.decrypt(secret, user.id) ?? []);
    const line = lineOf(user, await identitiesOf(records, user.id), appSecrets);
    yield { line, lacksFactor: appSecrets.length < apps.length };
  }
}

const lineOf = (user: User, identities: readonly Identity[], secrets: readonly string[]): LineInput => ({
  id: user.id,
  username: user.username,
  email: user.email,
  emailVerified: user.emailVerifiedAt !== null,
  ...(user.passwordHash !== UNKNOWN_PASSWORD && { passwordHash: exportedHash(user.passwordHash) }),
  createdAt: new Date(user.createdAt).toISOString(),
  ...(user.locale !== null && { locale: user.locale }),
  ...(Object.keys(user.attributes).length > 0 && { attributes: user.attributes }),
  ...(identities.length > 0 && { identities: identities.map(identityOf) }),
  ...(secrets.length > 0 && { factors: secrets.map((secret) => ({ type: 'totp' as const, secret })) }),
  ...(user.disabledAt !== null && { disabled: true }),
});

const identityOf = ({ issuer, subject, provider, email }: Identity) => ({
  ...{ issuer, subject, provider },
  ...(email !== null && { email }),
});
