import type { LinkRepository } from '../../../src/application/ports/link-repository.ts';
import type { Link, LinkPurpose } from '../../../src/domain/link.ts';
import { memoryTables, type Tables } from './tables.ts';

type MemoryLinkRepository = LinkRepository & { removeAllOfUser(userId: string): void };

const keyOf = ({ userId, purpose, since }: Link): string => `${userId} ${purpose} ${since}`;

/** Keeps links in memory until the process ends. */
export const memoryLinkRepository = (tables: Tables = memoryTables()): MemoryLinkRepository => {
  const links = tables.open<Link>('links');
  const live = (purpose: LinkPurpose, tokenHash: string, now: number): Link | null =>
    [...links.values()].find(
      (link) => link.purpose === purpose && link.tokenHash === tokenHash && now < link.expiresAt,
    ) ?? null;
  const ofUser = (userId: string): Link[] => [...links.values()].filter((link) => link.userId === userId);
  const remove = (link: Link) => links.delete(keyOf(link));

  return {
    async put(link) {
      links.set(keyOf(link), { ...link });
    },
    async find(purpose, tokenHash, now) {
      const link = live(purpose, tokenHash, now);
      return link && { ...link };
    },
    async take(purpose, tokenHash, now) {
      const link = live(purpose, tokenHash, now);
      if (link !== null) remove(link);
      return link;
    },
    listByEmail: async (purpose, email, now) =>
      [...links.values()]
        .filter((link) => link.purpose === purpose && link.email === email && now < link.expiresAt)
        .map((link) => ({ ...link })),
    async removeOfUser(userId, purposes) {
      for (const link of ofUser(userId)) if (purposes.includes(link.purpose)) remove(link);
    },
    listByUser: async (userId, now) =>
      ofUser(userId)
        .filter(({ expiresAt }) => now < expiresAt)
        .map((link) => ({ ...link })),
    async purge(now, limit) {
      const expired = [...links.values()].filter(({ expiresAt }) => expiresAt <= now).slice(0, limit);
      for (const link of expired) remove(link);
      return expired.length;
    },
    removeAllOfUser(userId) {
      for (const link of ofUser(userId)) remove(link);
    },
  };
};
