import { BASE32 } from '../../domain/second-factor.ts';
import { canonicalEmail } from '../../domain/user.ts';
import { type Fields, isTrue, objectOf, textOf, timeOf } from './fields.ts';
import type { LineInput } from './line.ts';
import { entriesOf, type Layout } from './rows.ts';
import type { Place, Source, SourceLine } from './source.ts';

/** The identities and factors of a user, and notes for the report of the import. */
export type Credentials = {
  readonly identities?: readonly (LineInput['identities'] & {})[number][];
  readonly factors?: readonly (LineInput['factors'] & {})[number][];
  readonly notes?: readonly string[];
};

/** Data of an entry that belong to the user of another entry. */
export type Part = Credentials & {
  /** One of the `keys` of the user; an empty text if the entry names no user. */
  readonly userKey: string;
  readonly passwordHash?: string | undefined;
  readonly verifiedEmail?: string | undefined;
};

/** How a field of a user is read if `Export.fields` only has its name in the other system. `readLine` validates the values later. */
const READERS = {
  ...{ id: textOf, username: textOf, email: textOf, passwordHash: textOf, locale: textOf },
  ...{ createdAt: timeOf, emailVerified: isTrue, disabled: isTrue, attributes: objectOf },
};

export type Export = Layout & {
  /** Renames the members of an entry. The other members of this type refer to the new names. */
  readonly renamed?: (row: Fields) => Fields;
  /** Reads an entry as a part; `null` for a user, and for an entry to ignore. @param isSecond whether the entry is in the file of `--passwords` */
  readonly part?: (row: Fields, isSecond: boolean) => Part | null;
  /** The keys by which parts name this user. Default: the member `id` of the entry. */
  readonly keys?: (row: Fields) => readonly string[];
  /** Whether an entry that is no part is a user. Default: every such entry is. */
  readonly isUser?: (row: Fields) => boolean;
  /** Why a user is skipped; `undefined` for a user who is imported. */
  readonly leftOut?: (row: Fields) => string | undefined;
  /** For each field of a user, its name in the other system, or a function that finds its value. */
  readonly fields: { readonly [Name in keyof typeof READERS]?: string | ((row: Fields) => unknown) };
  readonly credentials?: (row: Fields) => readonly Credentials[];
};

type FoundPart = Place & { readonly part: Part; isUsed?: boolean };

/** Makes a source. If the system has parts, the source reads the files twice, and keeps all parts, but not the users, in memory. */
export const sourceOf = (system: Export): Source =>
  async function* ({ files, passwords }) {
    const { part: partOf = () => null, renamed = (row) => row } = system;
    const all = files.map((file) => ({ file, isSecond: false }));
    if (passwords !== undefined) all.push({ file: passwords, isSecond: true });
    async function* entries() {
      for (const { file, isSecond } of all)
        for await (const entry of entriesOf(file, system)) {
          if ('problem' in entry) yield entry;
          else {
            const row = renamed(entry.row);
            yield { ...entry, row, part: partOf(row, isSecond) };
          }
        }
    }
    const parts: FoundPart[] = [];
    if (system.part !== undefined)
      for await (const entry of entries())
        if ('part' in entry && entry.part !== null)
          parts.push({ file: entry.file, line: entry.line, part: entry.part });
    const partsByUser = Map.groupBy(parts, ({ part }) => part.userKey);
    for await (const entry of entries()) {
      if ('problem' in entry) yield entry;
      else if (entry.part === null) yield* userIn(entry, system, partsByUser);
    }
    for (const { file, line, isUsed } of parts)
      if (isUsed !== true) yield { file, line, problem: 'belongs to none of the users in the files' };
  };

function* userIn(
  { file, line, row }: Place & { readonly row: Fields },
  system: Export,
  parts: ReadonlyMap<string, readonly FoundPart[]>,
): Generator<SourceLine> {
  const { keys = ({ id }) => [textOf(id) ?? ''], isUser, leftOut } = system;
  const userParts = keys(row).flatMap((key) => (key === '' ? [] : (parts.get(key) ?? [])));
  for (const part of userParts) part.isUsed = true;
  if (isUser?.(row) === false) return;
  const reason = leftOut?.(row);
  if (reason !== undefined) yield { file, line, leftOut: reason };
  else yield { file, line, ...userOf(row, system, userParts) };
}

/** The note on a user whose second factor in the other system cannot be imported. */
export const WITHOUT_FACTOR = 'The second factor is left out: the export has no secret that can be used here.';
const DISABLED_NOTE = 'Is blocked or disabled there, so the account is disabled.';

const userOf = (row: Fields, { fields, credentials }: Export, foundParts: readonly FoundPart[]) => {
  const parts = foundParts.map(({ part }) => part);
  const { email, passwordHash, emailVerified, ...user } = Object.fromEntries(
    Object.entries(READERS).map(([name, read]) => {
      const from = fields[name as keyof typeof READERS];
      return [name, typeof from === 'string' ? read(row[from]) : from?.(row)];
    }),
  );
  const all = [...(credentials?.(row) ?? []), user.disabled === true ? { notes: [DISABLED_NOTE] } : {}, ...parts];
  const factors = all.flatMap((each) => each.factors ?? []);
  const notes = new Set(all.flatMap((each) => each.notes ?? []));
  if (factors.length > 0) notes.delete(WITHOUT_FACTOR);
  const isProven = ({ verifiedEmail }: Part) =>
    verifiedEmail !== undefined && canonicalEmail(verifiedEmail) === canonicalEmail(textOf(email) ?? '');
  return {
    user: {
      ...{ ...user, email, factors, identities: all.flatMap((each) => each.identities ?? []) },
      passwordHash: passwordHash ?? parts.find((part) => part.passwordHash !== undefined)?.passwordHash,
      emailVerified: emailVerified === true || parts.some(isProven),
    },
    notes: [...notes],
  };
};

/** Providers with the same issuer for all users. GitHub is no OpenID provider: this service uses its URL as the issuer. */
const ISSUERS: Readonly<Record<string, string>> = {
  google: 'https://accounts.google.com',
  apple: 'https://appleid.apple.com',
  github: 'https://github.com',
};
/** "Providers" in the exports that are the user's own password, address or phone number. */
const OWN_CREDENTIALS = ['auth0', 'email', 'sms', 'phone', 'password', 'credential'];
/** The names of Microsoft in the exports. */
const MICROSOFT = ['microsoft', 'azure', 'azuread', 'waad', 'windowslive', 'entra'];

/**
 * The link of a user to a provider, or a note that says why it is left out; neither for `OWN_CREDENTIALS`.
 * @param name the system's name of the provider, for example `google`, `google.com`, `google-oauth2` or `oauth_google`
 * @param subject the claim `sub` of the provider
 * @param issuer the claim `iss`. Default: the issuer in `ISSUERS`
 */
export const linkTo = (name: unknown, subject: unknown, email?: unknown, issuer?: string): Credentials => {
  const label = (textOf(name) ?? '').toLowerCase().replace(/^oauth_|\.com$|-oauth2$/g, '');
  const provider = MICROSOFT.includes(label) ? 'microsoft' : label;
  if (OWN_CREDENTIALS.includes(provider)) return {};
  const knownIssuer = issuer ?? (Object.hasOwn(ISSUERS, provider) ? ISSUERS[provider] : undefined);
  const sub = textOf(subject);
  if (knownIssuer !== undefined && sub !== undefined)
    return { identities: [{ issuer: knownIssuer, subject: sub, provider, email: textOf(email) }] };
  const reason =
    provider === 'microsoft'
      ? 'its issuer and subject depend on the tenant and the application, and are not in the export'
      : 'it is not known as an OpenID provider';
  return { notes: [`The link to the provider ${label.slice(0, 64)} is left out: ${reason}.`] };
};

/** An authenticator app with a secret in Base32, or a note that it is left out, for instance because the secret is encrypted. */
export const totpFactor = (secret: unknown): Credentials => {
  const text = textOf(secret)?.replaceAll(/[\s=]/g, '') ?? '';
  return /^[A-Z2-7]+$/i.test(text) ? { factors: [{ secret: text }] } : { notes: [WITHOUT_FACTOR] };
};

/** Encodes in Base32 (RFC 4648 §6), without padding. */
export const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};
