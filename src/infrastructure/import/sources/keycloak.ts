import { keycloakHash } from '../../../adapters/crypto/foreign/storable-hash.ts';
import { type Fields, isTrue, listOf, objectOf, objectsIn, textOf, timeOf } from '../fields.ts';
import { appWith, base32, linkTo } from '../links.ts';
import { sourceOf, together, WITHOUT_FACTOR } from '../system-export.ts';

/** `secretData` and `credentialData` are texts of JSON. */
const credentialOf = (credential: Fields) => ({
  type: credential.type,
  secret: objectOf(credential.secretData),
  data: objectOf(credential.credentialData),
});
type Credential = ReturnType<typeof credentialOf>;

const hashOf = ({ secret, data }: Credential): string =>
  keycloakHash({
    value: textOf(secret.value) ?? '',
    salt: textOf(secret.salt) ?? '',
    algorithm: textOf(data.algorithm) ?? '',
    hashIterations: Number(data.hashIterations),
    additionalParameters: objectOf(data.additionalParameters),
  });

/** The key of the codes is the text itself, unless the credential says that it is Base32. */
const factorOf = ({ type, secret, data }: Credential) => {
  if (type === 'password') return {};
  const { subType, digits = 6, period = 30, algorithm = 'HmacSHA1', secretEncoding } = data;
  const isKnown = subType === 'totp' && digits === 6 && period === 30 && algorithm === 'HmacSHA1';
  if (type !== 'otp' || !isKnown) return { notes: [WITHOUT_FACTOR] };
  const key = textOf(secret.value) ?? '';
  return appWith(secretEncoding === 'BASE32' ? key : base32(Buffer.from(key)));
};

/** The users of a realm, as `kc.sh export` writes them. */
export const keycloak = sourceOf({
  tables: ['users'],
  user: (row) => {
    if (textOf(row.serviceAccountClientId) !== undefined) return { leftOut: 'is the account of a service' };
    const credentials = objectsIn(row.credentials).map(credentialOf);
    const password = credentials.find(({ type }) => type === 'password');
    const { notes, ...linked } = together(
      ...objectsIn(row.federatedIdentities).map(({ identityProvider, userId }) => linkTo(identityProvider, userId)),
      ...credentials.map(factorOf),
    );
    return {
      user: {
        id: textOf(row.id),
        username: textOf(row.username),
        email: textOf(row.email),
        emailVerified: isTrue(row.emailVerified),
        passwordHash: password === undefined ? undefined : hashOf(password),
        createdAt: timeOf(row.createdTimestamp),
        locale: textOf(listOf(objectOf(row.attributes).locale)[0]),
        disabled: !isTrue(row.enabled),
        ...linked,
      },
      notes,
    };
  },
});
