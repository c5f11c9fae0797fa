import { clockFindings } from '../checks/clock.ts';
import { redisFindings } from '../checks/redis.ts';
import { type Finding, note, warning } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { askRedis } from '../probes/redis.ts';
import { Unreachable } from '../probes/unreachable.ts';

export const redis = async ({ config }: Patient): Promise<Finding[]> => {
  const { redisUrls, raceWindow } = config;
  if (redisUrls.length === 0)
    return [
      note(
        'redis.none',
        'REDIS_URL is unset: each instance counts limits for itself.',
        'Nothing, with one instance. Set REDIS_URL for several.',
      ),
    ];
  try {
    const nodes = await askRedis(redisUrls);
    return nodes.flatMap((facts) => [
      ...redisFindings(facts),
      ...(facts.clock === null
        ? []
        : clockFindings('redis.clock', `Redis at ${facts.address}`, facts.clock, raceWindow)),
    ]);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return [
      warning(
        'redis.unreachable',
        `${error.message}: each instance counts limits for itself.`,
        'Check that Redis runs, that this machine may reach it, and the password.',
      ),
    ];
  }
};
