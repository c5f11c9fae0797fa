/**
 * How often the password of one account may be guessed (ADR 0024). Times are milliseconds of one clock, whichever.
 *
 * Some failures are free. After these, a party that keeps failing (a network, or a device of the user's) has turns of its own,
 * which come the less often the more such parties there are: together they have one try a minute, and none can take another's.
 * Strangers' networks that have hardly failed share one turn a minute more. The user's own devices that have hardly failed do
 * not wait at all.
 */

/** Failures of all parties together. There are three counts for one user (ADR 0024): 150 are free at most, and what `LIMITS` adds. */
export const FREE_FAILURES = 50;
export const FIRST_WAIT = 1_000;
export const LONGEST_WAIT = 60_000;
/** How long the failures of a party are remembered after its last one. */
export const MEMORY = 3_600_000;
/** Remembered failures that make it a party that keeps failing. */
export const PARTY_LIMIT = 3;

/** Who tries. Names hold no space. */
export type Party = {
  readonly kind: 'network' | 'device';
  /** The groups that the party is in, the widest first, and the party itself at last. */
  readonly names: readonly string[];
};

/**
 * From how many failures on a group is one party that keeps failing, the narrowest last. Of each party in it no more than its own
 * limit counts, so that one that never ceases does not speak for its neighbours.
 * - networks: /32, /48 and /64 of IPv6; /16, /24 and the address of IPv4
 * - devices: 50 of them, as many as there are live sessions at most (ADR 0025)
 */
export const LIMITS: Readonly<Record<Party['kind'], readonly number[]>> = {
  network: [4 * PARTY_LIMIT, 2 * PARTY_LIMIT, PARTY_LIMIT],
  device: [50 * PARTY_LIMIT, PARTY_LIMIT],
};

export const deviceParty = (device: string): Party => ({ kind: 'device', names: ['devices', device] });

/** Names a party among others: it begins with the texts of the groups that the party is in. */
export const textOf = ({ names }: Party): string => names.map((name) => `${name} `).join('');

type Failures = { readonly failures: number; readonly lastAt: number };

/** The tries at one account. A try counts as a failure until it is known to be none. */
export type LoginThrottle = {
  readonly lastAt: number;
  /** By text. There are some 250 at most: so many are let through in an hour. */
  readonly parties: ReadonlyMap<string, Failures>;
  /** When each turn was last taken: that of a party or group, or that of newcomers. */
  readonly turns: ReadonlyMap<string, number>;
};

const NEWCOMERS = '';

/** Milliseconds until this party may try; 0 is now. */
export const waitFor = (throttle: LoginThrottle | null, party: Party, now: number): number => {
  const { parties, turns } = remembered(throttle, now);
  const surplus = sum([...parties.values()].map(({ failures }) => failures)) - FREE_FAILURES;
  if (surplus < 0) return 0;
  const count = countByGroup(parties);
  const turn = turnOf(textOf(party), party.kind, count);
  if (turn === NEWCOMERS && party.kind === 'device') return 0;
  const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** surplus) * sharing(turn, parties, party.kind, count);
  const since = now - (turns.get(turn) ?? Number.NEGATIVE_INFINITY);
  // A turn that was taken in the future: the clock stepped back.
  return since < 0 ? 0 : Math.max(0, wait - since);
};

/** The throttle once a try was let through. */
export const counted = (throttle: LoginThrottle | null, party: Party, now: number): LoginThrottle => {
  const before = remembered(throttle, now);
  const text = textOf(party);
  const parties = new Map(before.parties);
  parties.set(text, { failures: (parties.get(text)?.failures ?? 0) + 1, lastAt: now });
  const taken = [before.parties, parties].map((each) => turnOf(text, party.kind, countByGroup(each)));
  return { lastAt: now, parties, turns: new Map([...before.turns, ...taken.map((turn) => [turn, now] as const)]) };
};

/** The throttle as if a try that was let through had not been made. */
export const withdrawn = (throttle: LoginThrottle, party: Party): LoginThrottle => {
  const text = textOf(party);
  const failed = throttle.parties.get(text);
  if (failed === undefined) return throttle;
  const parties = new Map(throttle.parties);
  if (failed.failures === 1) parties.delete(text);
  else parties.set(text, { ...failed, failures: failed.failures - 1 });
  const turns = new Map(throttle.turns);
  turns.delete(turnOf(text, party.kind, countByGroup(parties)));
  return { ...throttle, parties, turns };
};

/** The throttle once a try was let through and found the right password: what its party failed before is forgotten. */
export const succeeded = (throttle: LoginThrottle, party: Party): LoginThrottle => {
  const { parties, ...rest } = withdrawn(throttle, party);
  const text = textOf(party);
  return { ...rest, parties: new Map([...parties].filter(([each]) => each !== text)) };
};

/** Whether a throttle says nothing any more. */
export const isForgotten = ({ parties, lastAt }: LoginThrottle, now: number): boolean =>
  parties.size === 0 || now - lastAt >= MEMORY;

type Parties = LoginThrottle['parties'];

const remembered = (throttle: LoginThrottle | null, now: number): Pick<LoginThrottle, 'parties' | 'turns'> => ({
  parties: new Map([...(throttle?.parties ?? [])].filter(([, { lastAt }]) => now - lastAt < MEMORY)),
  turns: new Map([...(throttle?.turns ?? [])].filter(([, takenAt]) => now - takenAt < MEMORY)),
});

/** The texts of a party's groups, the widest first, and its own at last: each is the beginning of the next. */
const groupsOf = (text: string): string[] => {
  const groups: string[] = [];
  for (let end = text.indexOf(' '); end >= 0; end = text.indexOf(' ', end + 1)) groups.push(text.slice(0, end + 1));
  return groups;
};

const countByGroup = (parties: Parties): ReadonlyMap<string, number> => {
  const count = new Map<string, number>();
  for (const [text, { failures }] of parties) {
    for (const group of groupsOf(text)) count.set(group, (count.get(group) ?? 0) + Math.min(failures, PARTY_LIMIT));
  }
  return count;
};

/** The turn that a party waits for: that of the widest group of its that keeps failing, or else that of newcomers. */
const turnOf = (text: string, kind: Party['kind'], count: ReadonlyMap<string, number>): string => {
  const groups = groupsOf(text);
  const limits = LIMITS[kind].slice(-groups.length);
  return groups.find((group, at) => (count.get(group) ?? 0) >= (limits[at] ?? PARTY_LIMIT)) ?? NEWCOMERS;
};

/** How many keep failing, and have a turn each. */
const sharing = (turn: string, parties: Parties, kind: Party['kind'], count: ReadonlyMap<string, number>): number => {
  if (turn === NEWCOMERS) return 1;
  const turns = new Set([...parties.keys()].map((text) => turnOf(text, kind, count)));
  turns.delete(NEWCOMERS);
  return turns.size;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
