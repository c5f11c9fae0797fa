import { sessionOf, tokenIn } from './facts.ts';
import { kernel, SECOND } from './kernel.ts';
import type { World } from './world.ts';

/** Milliseconds: within the race window, and a second for what is rounded, the thief and the owner may take turns. */
const WINDOW = 12 * SECOND;

/** Copies cookies, and renews them for as long as that works. */
export const steal = async (world: World): Promise<void> => {
  const { chance, horizon, isOver, browsers } = world;
  while (!isOver()) {
    await kernel.sleep(chance.spread(5 * SECOND, horizon / 4));
    const cookie = chance.pick(browsers).cookie();
    if (cookie !== undefined && !isOver()) await renew(world, cookie);
  }
};

const renew = async ({ story, facts, chance, horizon, ask, refreshesOf }: World, cookie: string): Promise<void> => {
  const id = sessionOf(cookie);
  const isBound = Boolean(facts.rowOf(id)?.deviceKey);
  const stolenAt = kernel.time;
  story.tell(`a thief copies a cookie of ${id.slice(-5)}, bound: ${isBound}`);
  for (let [token, lastGot, tries] = [cookie, stolenAt, 1 + chance.below(6)]; tries > 0; tries -= 1) {
    await kernel.sleep(chance.spread(SECOND, horizon / 12));
    if (!isBound) facts.touchedByThief.add(id);
    const headers = { cookie: `refresh_token=${token}`, 'user-agent': 'curl/8' };
    const arrivedAt = kernel.time;
    const answer = await ask({ method: 'POST', path: '/auth/refresh-token', headers, address: '203.0.113.66' });
    const isIn = answer?.status === 200;
    story.tell(`the thief gets ${answer?.status}`);
    if (isBound) story.expect('a copied cookie of a bound session is worthless', !isIn, () => id);
    if (answer === null || !isIn) continue;
    const wasOwner = refreshesOf(id).some((at) => at > lastGot + WINDOW && at < arrivedAt - WINDOW);
    const excuse = facts.forgotSince(stolenAt) && 'forgotten';
    story.expect("the owner's next refresh ends the session of a thief", !wasOwner, () => id, excuse);
    [token, lastGot] = [tokenIn(answer) ?? token, kernel.time];
  }
};
