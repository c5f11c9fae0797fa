import { type EndedFeed, endedFeed } from '../../adapters/http/routes/service/ended-sessions.ts';
import type { Ports } from '../../application/service.ts';
import { listEnded } from '../../application/storage/events.ts';
import { endedList, listedSince, MOST_LISTED } from '../../domain/ended-session.ts';
import type { Config } from '../config.ts';

/** The list of ended sessions; `null` with a signer of the caller that does not sign it. */
export const openEndedFeed = (
  { records, tokens, clock }: Pick<Ports, 'records' | 'tokens' | 'clock'>,
  { accessLifetime }: Pick<Config, 'accessLifetime'>,
): EndedFeed | null => {
  const sign = tokens.signEnded?.bind(tokens);
  if (sign === undefined) return null;
  return endedFeed({
    read: async () => {
      const ended = await listEnded(records, listedSince(clock.now(), accessLifetime), MOST_LISTED + 1);
      return { list: endedList(ended, accessLifetime), ids: ended.map(({ id }) => id) };
    },
    sign: (list) => sign(list, clock.now()),
  });
};
