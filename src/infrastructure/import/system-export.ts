import { canonicalEmail } from '../../domain/user.ts';
import type { Fields } from './fields.ts';
import type { LineInput } from './line.ts';
import { entriesOf, type Layout } from './rows.ts';
import type { Place, Source, SourceLine } from './source.ts';

export type Linked = {
  readonly identities?: readonly (LineInput['identities'] & {})[number][];
  readonly factors?: readonly (LineInput['factors'] & {})[number][];
  readonly notes?: readonly string[];
};

/** A user as another system describes it. The fields are validated later. */
type FoundUser = {
  readonly user: Partial<Omit<Record<keyof LineInput, unknown>, keyof Linked>> &
    Omit<Linked, 'notes'> & { readonly email: string | undefined };
} & Pick<Linked, 'notes'>;

/** What an entry says of the user of another entry. */
export type Part = Linked & {
  /** As in `keys`; empty if it is missing. */
  readonly of: string;
  readonly passwordHash?: string | undefined;
  /** An address that the user has proven. */
  readonly verifiedEmail?: string | undefined;
};

export type Export = Layout & {
  /**
   * `null`: an entry of a user, or one that does not matter.
   * @param isSecond whether it is in the file of `--passwords`.
   */
  readonly part?: (row: Fields, isSecond: boolean) => Part | null;
  /** By which the parts of a user are found. */
  readonly keys?: (row: Fields) => readonly string[];
  /** `null`: an entry that does not matter. */
  readonly user: (row: Fields) => FoundUser | { readonly problem: string } | { readonly leftOut: string } | null;
};

type Parts = Map<string, (Place & { readonly part: Part; isUsed?: boolean })[]>;

/** Reads the files twice if they have parts, which alone are kept in memory. */
export const sourceOf = (layout: Export): Source =>
  async function* ({ files, passwords }) {
    const all = [...files.map((file) => ({ file, isSecond: false }))];
    if (passwords !== undefined) all.push({ file: passwords, isSecond: true });
    const parts: Parts = new Map();
    for (const { file, isSecond } of layout.part === undefined ? [] : all)
      for await (const entry of entriesOf(file, layout))
        if ('row' in entry) add(parts, entry, layout.part?.(entry.row, isSecond) ?? null);
    for (const { file, isSecond } of all)
      for await (const entry of entriesOf(file, layout)) {
        if ('problem' in entry) yield entry;
        else if ((layout.part?.(entry.row, isSecond) ?? null) === null) yield* userIn(entry, layout, parts);
      }
    for (const { file, line, isUsed } of [...parts.values()].flat())
      if (isUsed !== true) yield { file, line, problem: 'belongs to none of the users in the files' };
  };

const add = (parts: Parts, { file, line }: Place, part: Part | null): void => {
  if (part === null) return;
  const ofUser = parts.get(part.of) ?? [];
  ofUser.push({ file, line, part });
  parts.set(part.of, ofUser);
};

function* userIn(
  { file, line, row }: Place & { readonly row: Fields },
  { user: read, keys }: Export,
  parts: Parts,
): Generator<SourceLine> {
  const ofUser = (keys?.(row) ?? []).flatMap((key) => (key === '' ? [] : (parts.get(key) ?? [])));
  for (const part of ofUser) part.isUsed = true;
  const found = read(row);
  if (found === null) return;
  const said = ofUser.map(({ part }) => part);
  yield { file, line, ...('user' in found ? merged(found, said) : found) };
}

/** Of users who are asked for a code there, and not here. */
export const WITHOUT_FACTOR = 'The second factor is left out: the export has no secret that can be used here.';
const DISABLED = 'Is blocked or disabled there, so the account is disabled.';

const merged = ({ user, notes = [] }: FoundUser, parts: readonly Part[]): FoundUser => {
  const { identities = [], factors = [], ...rest } = user;
  const isDisabled = rest.disabled === true;
  const all = together({ identities, factors, notes: [...notes, ...(isDisabled ? [DISABLED] : [])] }, ...parts);
  const email = canonicalEmail(user.email ?? '');
  const isProven = email !== '' && parts.some(({ verifiedEmail = '' }) => canonicalEmail(verifiedEmail) === email);
  return {
    user: {
      ...rest,
      passwordHash: rest.passwordHash ?? parts.find(({ passwordHash }) => passwordHash !== undefined)?.passwordHash,
      emailVerified: rest.emailVerified === true || isProven,
      identities: all.identities,
      factors: all.factors,
    },
    notes: all.notes.filter((note) => note !== WITHOUT_FACTOR || all.factors.length === 0),
  };
};

export const together = (...parts: readonly Linked[]) => ({
  identities: parts.flatMap(({ identities = [] }) => identities),
  factors: parts.flatMap(({ factors = [] }) => factors),
  notes: [...new Set(parts.flatMap(({ notes = [] }) => notes))],
});
