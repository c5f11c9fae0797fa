import type { Redis } from 'ioredis';

/** The lines `name:value` of the report of one server. */
export type Info = ReadonlyMap<string, string>;

/** INFO, which managed servers allow where they refuse CONFIG. Empty for a user without the permission. */
export const infoOf = async (redis: Redis): Promise<Info> => {
  const report = await redis.info().catch(withoutPermission);
  return new Map([...report.matchAll(/^(\w+):([^\r\n]*)/gm)].map(([, name = '', value = '']) => [name, value]));
};

const withoutPermission = (error: unknown): string => {
  if (error instanceof Error && error.message.startsWith('NOPERM')) return '';
  throw error;
};

export const isNodeOfCluster = (info: Info): boolean => info.get('cluster_enabled') === '1';

/**
 * How the server deletes keys when its memory is full: the policy, and how many it has deleted. `null` if it does not. Every policy but
 * `noeviction` also takes keys of the service, since all of them expire.
 */
export const evictionOf = (info: Info): { readonly policy: string; readonly evicted: number } | null => {
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  const evicted = Number(info.get('evicted_keys') ?? 0);
  const isBounded = info.get('maxmemory') !== '0' || evicted > 0;
  return policy !== 'noeviction' && isBounded ? { policy, evicted } : null;
};
