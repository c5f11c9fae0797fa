/** An authenticator app of a user. Times are epoch milliseconds. */
export type Factor = FactorKey & {
  /** Encrypted. */
  readonly secret: string;
  /** The last step whose code was used; -1 before the first. */
  readonly lastStep: number;
  readonly createdAt: number;
  /** `null` until the user has shown its first code: it is no factor before. */
  readonly confirmedAt: number | null;
};

export const AUTHENTICATOR_APPS_PER_USER = 5;

export type FactorKey = { readonly id: string; readonly userId: string };

export const isConfirmed = ({ confirmedAt }: Pick<Factor, 'confirmedAt'>): boolean => confirmedAt !== null;
