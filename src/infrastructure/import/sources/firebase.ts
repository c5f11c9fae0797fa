import { type FirebaseConfig, firebaseHash } from '../../../adapters/crypto/foreign/firebase.ts';
import { invalidArguments } from '../../command-error.ts';
import { type Fields, isTrue, objectOf, objectsIn, textOf, timeOf } from '../fields.ts';
import { linkTo } from '../links.ts';
import type { Source } from '../source.ts';
import { sourceOf, together } from '../system-export.ts';

/** In the CSV of `firebase auth:export`, quotation marks within a name are not doubled: a name can be the line of another user. */
const WITHOUT_CSV = 'is not JSON, and in the CSV of Firebase, names may pretend to be other users';

/** JSON of `firebase auth:export`. */
export const firebase: Source = ({ hashConfig, ...options }) => {
  const config = hashConfig === undefined ? null : readConfig(hashConfig);
  return sourceOf({ tables: ['users'], withoutCsv: WITHOUT_CSV, user: (row) => userIn(row, config) })(options);
};

const userIn = (row: Fields, config: FirebaseConfig | null) => {
  const claims = objectOf(row.customAttributes);
  const links = objectsIn(row.providerUserInfo).filter(({ rawId }) => textOf(rawId) !== undefined);
  if (links.length === 0 && [row.email, row.phoneNumber].every((each) => textOf(each) === undefined))
    return { leftOut: 'is an anonymous user' };
  const { notes, identities } = together(
    ...links.map(({ providerId, rawId, email }) => linkTo(providerId, rawId, email)),
  );
  return {
    user: {
      id: textOf(row.localId),
      email: textOf(row.email),
      emailVerified: isTrue(row.emailVerified),
      createdAt: timeOf(row.createdAt),
      passwordHash: hashOf(textOf(row.passwordHash), textOf(row.salt), config),
      attributes: Object.keys(claims).length > 0 ? claims : undefined,
      disabled: isTrue(row.disabled),
      identities,
    },
    notes,
  };
};

const hashOf = (hash: string | undefined, salt: string | undefined, config: FirebaseConfig | null) => {
  if (hash === undefined) return;
  if (config === null)
    throw invalidArguments(
      'The users have passwords: --hash-config FILE has the "password hash parameters" of Firebase.',
    );
  return firebaseHash({ hash, salt: salt ?? '' }, config);
};

/** Reads the text of the dialog "password hash parameters". @throws CommandError without the values */
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
