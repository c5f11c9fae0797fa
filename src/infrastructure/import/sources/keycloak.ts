import { keycloakHash } from '../../../adapters/crypto/foreign/storable-hash.ts';
import { type Fields, isTrue, listOf, objectOf, objectsIn, textOf } from '../fields.ts';
import { base32, linkTo, sourceOf, totpFactor, WITHOUT_FACTOR } from '../system-export.ts';

/** Reads a credential, whose `secretData` and `credentialData` are JSON texts. */
const credentialOf = (credential: Fields) => ({
  type: credential.type,
  secret: objectOf(credential.secretData),
  data: objectOf(credential.credentialData),
});
type Credential = ReturnType<typeof credentialOf>;
const credentialsIn = (row: Fields): readonly Credential[] => objectsIn(row.credentials).map(credentialOf);

const hashOf = ({ secret, data }: Credential): string =>
  keycloakHash({
    value: textOf(secret.value) ?? '',
    salt: textOf(secret.salt) ?? '',
    algorithm: textOf(data.algorithm) ?? '',
    hashIterations: Number(data.hashIterations),
    additionalParameters: objectOf(data.additionalParameters),
  });

/** Reads a credential that may be an authenticator app. The app's key is the text of the secret itself, unless the credential says that the text is Base32. */
const factorOf = ({ type, secret, data }: Credential) => {
  if (type === 'password') return {};
  const { subType, digits = 6, period = 30, algorithm = 'HmacSHA1', secretEncoding } = data;
  const isKnown = subType === 'totp' && digits === 6 && period === 30 && algorithm === 'HmacSHA1';
  if (type !== 'otp' || !isKnown) return { notes: [WITHOUT_FACTOR] };
  const key = textOf(secret.value) ?? '';
  return totpFactor(secretEncoding === 'BASE32' ? key : base32(Buffer.from(key)));
};

/** Reads the users of a realm from the output of `kc.sh export`. */
export const keycloak = sourceOf({
  tables: ['users'],
  leftOut: (row) => (textOf(row.serviceAccountClientId) === undefined ? undefined : 'is the account of a service'),
  fields: {
    ...{ id: 'id', username: 'username', email: 'email', emailVerified: 'emailVerified' },
    createdAt: 'createdTimestamp',
    passwordHash: (row) => {
      const password = credentialsIn(row).find(({ type }) => type === 'password');
      return password && hashOf(password);
    },
    locale: (row) => textOf(listOf(objectOf(row.attributes).locale)[0]),
    disabled: (row) => !isTrue(row.enabled),
  },
  credentials: (row) => [
    ...objectsIn(row.federatedIdentities).map(({ identityProvider, userId }) => linkTo(identityProvider, userId)),
    ...credentialsIn(row).map(factorOf),
  ],
});
