import { type FirebaseConfig, firebaseHash } from '../../../adapters/crypto/foreign/canonical-hash.ts';
import { invalidArguments } from '../../command-error.ts';
import { type Fields, objectOf, objectsIn, textOf } from '../fields.ts';
import type { Source } from '../source.ts';
import { linkTo, sourceOf } from '../system-export.ts';

/** In CSV, `firebase auth:export` does not escape quotation marks, so the name of one user could add a line for another. */
const WITHOUT_CSV = 'is not JSON, and in the CSV of Firebase, names may pretend to be other users';

const linksIn = (row: Fields) => objectsIn(row.providerUserInfo).filter(({ rawId }) => textOf(rawId) !== undefined);

/** Reads the JSON of `firebase auth:export`. */
export const firebase: Source = ({ hashConfig, ...options }) => {
  const config = hashConfig === undefined ? null : readConfig(hashConfig);
  return sourceOf({
    tables: ['users'],
    withoutCsv: WITHOUT_CSV,
    leftOut: (row) => {
      const hasName = [row.email, row.phoneNumber].some((each) => textOf(each) !== undefined);
      return hasName || linksIn(row).length > 0 ? undefined : 'is an anonymous user';
    },
    fields: {
      ...{ id: 'localId', email: 'email', emailVerified: 'emailVerified', createdAt: 'createdAt' },
      disabled: 'disabled',
      passwordHash: (row) => hashOf(textOf(row.passwordHash), textOf(row.salt), config),
      attributes: (row) => {
        const claims = objectOf(row.customAttributes);
        return Object.keys(claims).length > 0 ? claims : undefined;
      },
    },
    credentials: (row) => linksIn(row).map(({ providerId, rawId, email }) => linkTo(providerId, rawId, email)),
  })(options);
};

const hashOf = (hash: string | undefined, salt: string | undefined, config: FirebaseConfig | null) => {
  if (hash === undefined) return;
  if (config === null)
    throw invalidArguments(
      'The users have passwords: --hash-config FILE has the "password hash parameters" of Firebase.',
    );
  return firebaseHash({ hash, salt: salt ?? '' }, config);
};

/** Reads the text of Firebase's dialog "password hash parameters". @throws CommandError if a value is missing, or the algorithm is another */
const readConfig = (text: string): FirebaseConfig => {
  const value = (name: string): string => {
    const found = new RegExp(String.raw`\b${name}"?\s*[:=]\s*"?([\w+/=-]+)`).exec(text)?.[1];
    if (found === undefined) throw invalidArguments(`--hash-config: ${name} is missing.`);
    return found;
  };
  if (value('algorithm') !== 'SCRYPT') throw invalidArguments('--hash-config: only the algorithm SCRYPT is supported.');
  return {
    signerKey: value('base64_signer_key'),
    saltSeparator: value('base64_salt_separator'),
    rounds: Number(value('rounds')),
    memCost: Number(value('mem_cost')),
  };
};
