import type { LinkRepository } from '../../application/ports/link-repository.ts';
import type { Link } from '../../domain/link.ts';
import { findRow, purgeRows, putRow, removeRows, takeRow } from './change.ts';
import type { Records, Stored } from './records.ts';

const toLink = ({ version: _version, ...link }: Stored<'links'>): Link => link;

const isLive = ({ expiresAt }: Link, now: number): boolean => now < expiresAt;

export const linkRepositoryOver = (records: Records): LinkRepository => ({
  put: (link) => {
    const { userId, purpose, since } = link;
    return putRow(records, 'links', { userId, purpose, since }, link);
  },
  async find(purpose, tokenHash, now) {
    const link = await findRow(records, 'links', { tokenHash, purpose });
    return link !== null && isLive(link, now) ? toLink(link) : null;
  },
  async take(purpose, tokenHash, now) {
    const link = await takeRow(records, 'links', { tokenHash, purpose }, (row) => isLive(row, now));
    return link && toLink(link);
  },
  async listByEmail(purpose, email, now) {
    const links = await records.list('links', { equal: { email, purpose } });
    return links.filter((link) => isLive(link, now)).map(toLink);
  },
  async removeOfUser(userId, purposes) {
    await removeRows(records, 'links', { userId }, ({ purpose }) => purposes.includes(purpose));
  },
  async listByUser(userId, now) {
    const links = await records.list('links', { equal: { userId }, order: ['purpose'] });
    return links.filter((link) => isLive(link, now)).map(toLink);
  },
  purge: (now, limit) => purgeRows(records, 'links', { time: 'expiresAt', until: now, limit }),
});
