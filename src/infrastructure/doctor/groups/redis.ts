import { clockFindings } from '../checks/clock.ts';
import { redisFindings } from '../checks/redis.ts';
import { type Finding, note, problem, warning } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { askRedis } from '../probes/redis.ts';
import { Unreachable } from '../probes/unreachable.ts';

export const redis = async ({ config }: Patient): Promise<Finding[]> => {
  const { redisUrls, sessionStore, raceWindow } = config;
  if (redisUrls.length === 0)
    return [
      note(
        'redis.none',
        'REDIS_URL is unset: each instance counts limits for itself.',
        'Nothing, with one instance. Set REDIS_URL for several.',
      ),
    ];
  const sessions = sessionStore === 'redis';
  try {
    const nodes = await askRedis(redisUrls);
    return nodes.flatMap((facts) => [
      ...redisFindings(facts, sessions),
      ...(facts.clock === null
        ? []
        : clockFindings('redis.clock', `Redis at ${facts.address}`, facts.clock, raceWindow)),
    ]);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    const effect = sessions ? 'the service does not start' : 'each instance counts limits for itself';
    return [
      (sessions ? problem : warning)(
        'redis.unreachable',
        `${error.message}: ${effect}.`,
        'Check that Redis runs, that this machine may reach it, and the password.',
      ),
    ];
  }
};
