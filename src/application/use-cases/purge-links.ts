import type { Clock } from '../ports/clock.ts';
import type { LinkRepository } from '../ports/link-repository.ts';

export type PurgeLinksDeps = { readonly links: LinkRepository; readonly clock: Clock };

/** Deletes expired links, at most `limit`. @returns how many. */
export const purgeLinks =
  ({ links, clock }: PurgeLinksDeps) =>
  (limit: number): Promise<number> =>
    links.purge(clock.now(), limit);
