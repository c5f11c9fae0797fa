import type { TokenKeys } from '../../src/adapters/crypto/token-keys.ts';
import { testKeys } from '../support/keys.ts';
import { database } from './database.ts';
import { atRefresh } from './internet.ts';
import { type Chance, HOUR, kernel, MINUTE, SECOND, trace } from './kernel.ts';
import { actAtRandom } from './operators.ts';
import { deployment, instances, openInstance, otherServers } from './service.ts';
import { allBrowsers } from './visitor.ts';
import { facts, horizon, pickOften, world } from './world.ts';

/** The parts of a world that faults change. */
const PARTS = {
  database: () => database.faults,
  outside: () => otherServers,
  instance: (chance: Chance) => chance.pick(instances).line,
  line: (chance: Chance) => chance.pick(allBrowsers()).line,
};
type Lasting = readonly [part: keyof typeof PARTS, member: string, least: number, most: number, longest?: number];
/** Faults that change a member of a part for some time, to a value between `least` and `most`: a probability, milliseconds, or 1 for `true`. */
const LASTING = {
  latency: ['database', 'latency', 5, 300],
  statements: ['database', 'failing', 0.01, 0.6, 5 * MINUTE],
  unanswered: ['database', 'unanswered', 0.02, 0.6, 5 * MINUTE],
  /** The database is read-only, or its disk is full. */
  refused: ['database', 'refused', 0.05, 1, 5 * MINUTE],
  frozen: ['database', 'isFrozen', 1, 1, 50 * SECOND],
  down: ['database', 'isDown', 1, 1, 50 * SECOND],
  cut: ['instance', 'isCut', 1, 1, 40 * SECOND],
  counts: ['outside', 'counts', 0.3, 1],
  mail: ['outside', 'mail', 0.1, 1],
  replies: ['outside', 'replies', 0.01, 0.3],
  hooks: ['outside', 'hooks', 0.1, 1],
  hookReplies: ['outside', 'hookReplies', 0.1, 1],
  providers: ['outside', 'providers', 0.1, 1],
  requests: ['line', 'lost', 0.05, 0.7],
  /** A request and its answer together take less than the race window, so a slow line alone logs nobody out. */
  slow: ['line', 'slowest', 4_500, 4_500],
  doubled: ['line', 'doubled', 0.05, 0.9],
  answers: ['line', 'unanswered', 0.05, 0.7],
  keys: ['line', 'keyFaults', 0.05, 0.9],
} as const satisfies Record<string, Lasting>;

const someTime = (chance: Chance, longest: number = HOUR) => chance.spread(SECOND, Math.min(longest, horizon() / 20));
const causeLasting = async (chance: Chance, [part, member, least, most, longest]: Lasting): Promise<void> => {
  const target = PARTS[part](chance);
  const before = Object(target)[member];
  Object.assign(target, { [member]: chance.spread(least, most) });
  await kernel.sleep(someTime(chance, longest));
  Object.assign(target, { [member]: before });
};

/** Restarts instances one after the other. */
const restart = async (chance: Chance, which: Iterable<number> = instances.keys()): Promise<void> => {
  for (const at of which) {
    instances[at]?.kill();
    await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
    instances[at] = await openInstance();
  }
};

const SUDDEN = {
  async forget(chance: Chance) {
    await atRefresh();
    await kernel.sleep(chance.spread(1, 3 * SECOND));
    const milliseconds = chance.spread(10, 5 * SECOND);
    const lost = database.forget(milliseconds);
    if (lost.length > 0) facts.forgotten.push(kernel.time);
    trace(`a fail-over forgets ${Math.round(milliseconds)} ms: ${lost.map(({ table }) => table)}`);
    for (const { table, key, after } of lost)
      if (table === 'sessions' && !after) facts.ended.delete(JSON.parse(key)[0]);
    await causeLasting(chance, LASTING.down);
  },
  async kill(chance: Chance) {
    await atRefresh();
    await kernel.sleep(chance.spread(0.1, 500));
    await restart(chance, [chance.below(instances.length)]);
  },
  /** A rolling update: each instance in turn is restarted with another configuration. */
  async roll(chance: Chance) {
    const { settings } = deployment;
    settings.JWT_ACCESS_EXPIRES_IN = settings.JWT_ACCESS_EXPIRES_IN === '5m' ? '15m' : '5m';
    await restart(chance);
  },
  /** A rotation of keys: all instances accept the new keys before any of them signs with these. */
  async rotate(chance: Chance) {
    const [former, next] = [deployment.keys, testKeys()];
    for (const [own, other] of [[former, next] as const, [next, former] as const]) {
      const both = (kind: keyof TokenKeys) => {
        const publicKeys = [...own[kind].publicKeys, ...other[kind].publicKeys];
        return { ...own[kind], publicKeys };
      };
      deployment.keys = { access: both('access'), refresh: both('refresh') };
      await restart(chance);
    }
  },
  operator: (chance: Chance) => actAtRandom(chance, someTime(chance)),
};
const FAULTS = { ...LASTING, ...SUDDEN };
export type Fault = keyof typeof FAULTS;
export const ALL_FAULTS = Object.keys(FAULTS) as Fault[];

/** Causes one fault after the other until the end of the world. One kind is more frequent than the others. */
export const causeFaults = async (chance: Chance, kinds: readonly Fault[]): Promise<void> => {
  while (!world.isOver && kinds.length > 0) {
    await kernel.sleep(chance.spread(3 * SECOND, horizon() / 20));
    if (world.isOver) return;
    const kind = pickOften(chance, kinds);
    trace(`fault: ${kind}`);
    facts.lastFault = Number.POSITIVE_INFINITY;
    const fault = FAULTS[kind];
    await (typeof fault === 'function' ? fault(chance) : causeLasting(chance, fault));
    facts.lastFault = kernel.time;
  }
};
