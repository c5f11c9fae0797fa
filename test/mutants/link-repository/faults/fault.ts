import type { LinkRepository } from '../../../../src/application/ports/link-repository.ts';
import type { Link } from '../../../../src/domain/link.ts';
import type { Tables } from '../../memory/tables.ts';
import type { Faults as FaultsOf } from '../../records/in-memory.ts';

export type Faults = FaultsOf<LinkRepository>;

export const rowsOf = (tables: Tables) => tables.open<Link>('links');

/** The stored links that match. */
export const linksIn = (tables: Tables, matches: (link: Link) => boolean): Link[] =>
  [...rowsOf(tables).values()].filter(matches);
