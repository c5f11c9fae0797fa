import type { Factor } from '../../domain/second-factor.ts';
import type { FactorSecrets } from '../ports/secrets.ts';
import type { Records } from '../storage/records.ts';
import { changeRow } from '../storage/rows.ts';

type ReEncryptDeps = { readonly records: Records; readonly factorSecrets: FactorSecrets };

/** How many secrets were encrypted anew, had the current key before, and cannot be decrypted. */
type Counts = { changed: number; current: number; undecryptable: number };

const PAGE = 100;

/** Encrypts the secrets of all factors with the current key. What cannot be decrypted stays as it is. */
export const reEncryptFactors = (deps: ReEncryptDeps) => async (): Promise<Readonly<Counts>> => {
  const counts: Counts = { changed: 0, current: 0, undecryptable: 0 };
  for await (const factor of allFactors(deps.records)) {
    const outcome = await reEncrypt(deps, factor);
    if (outcome !== null) counts[outcome] += 1;
  }
  return counts;
};

const allFactors = async function* (records: Records): AsyncGenerator<Factor> {
  let after: string | undefined = '';
  while (after !== undefined) {
    const page: Factor[] = await records.list('factors', { range: ['id', '>', after], order: ['id'], limit: PAGE });
    yield* page;
    after = page.at(-1)?.id;
  }
};

/** @returns `null` for a factor that was removed or changed meanwhile. */
const reEncrypt = async ({ records, factorSecrets }: ReEncryptDeps, { id, userId, secret: from }: Factor) => {
  if (factorSecrets.isCurrent(from)) return 'current';
  const secret = factorSecrets.decrypt(from, userId);
  if (secret === null) return 'undecryptable';
  const to = factorSecrets.encrypt(secret, userId);
  const changed = await changeRow(records, 'factors', { id, userId }, (row) =>
    row.secret === from ? { ...row, secret: to } : null,
  );
  return changed && 'changed';
};
