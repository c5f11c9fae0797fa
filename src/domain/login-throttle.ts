/**
 * How often the password of one account may be guessed (ADR 0024). Times are milliseconds, all of the same clock.
 *
 * A limited number of failures is admitted without a wait. After these, each failing party (a network, or a device of the user)
 * has its own turns: the more failing parties, the longer each waits, so that together they have one attempt a minute, and none
 * can use another's turn. All networks that are not failing share one further turn a minute. Devices of the user that are not
 * failing do not wait.
 */

/** Failures admitted without a wait, all parties together. A user has three counts (ADR 0024), so at most 150, plus `LIMITS`. */
export const FREE_FAILURES = 50;
/** Milliseconds. Each further failure doubles the wait. */
export const FIRST_WAIT = 1_000;
/** Milliseconds. */
const LONGEST_WAIT = 60_000;
/** How long the failures of a party are remembered after its last attempt, in milliseconds. */
export const MEMORY = 3_600_000;
/** Remembered failures from which on a party is failing. */
const PARTY_LIMIT = 3;

/** Who attempts to log in. Names contain no space. */
export type Party = {
  readonly kind: 'network' | 'device';
  /** The groups of the party, the widest first, then the party itself. */
  readonly names: readonly string[];
};

/**
 * The failures from which on a group is one failing party, the narrowest group last. Of each party in a group, at most
 * `PARTY_LIMIT` failures count, so that a single party does not make its whole group failing.
 * - networks: /32, /48 and /64 of IPv6; /16, /24 and the address of IPv4
 * - devices: all of the user's, of which at most 50 have a live session (ADR 0025); then each of them
 */
const LIMITS: Readonly<Record<Party['kind'], readonly number[]>> = {
  network: [4 * PARTY_LIMIT, 2 * PARTY_LIMIT, PARTY_LIMIT],
  device: [50 * PARTY_LIMIT, PARTY_LIMIT],
};

export const deviceParty = (device: string): Party => ({ kind: 'device', names: ['devices', device] });

/** The text that identifies a party. It begins with the texts of the party's groups. */
export const textOf = ({ names }: Party): string => names.map((name) => `${name} `).join('');

type Failures = { readonly failures: number; readonly lastAt: number };

/** The attempts of one key. An attempt counts as a failure until it succeeds or is withdrawn. */
export type LoginThrottle = {
  readonly lastAt: number;
  /** By `textOf`. About 250 at most: no more attempts are admitted in an hour. */
  readonly parties: ReadonlyMap<string, Failures>;
  /** When each turn was last taken: that of a failing party or group, or the one that all others share. */
  readonly turns: ReadonlyMap<string, number>;
};

/** The turn of all parties that are not failing. */
const SHARED_TURN = '';

/** Milliseconds until an attempt of this party is admitted; 0 when it is now. */
export const waitFor = (throttle: LoginThrottle | null, party: Party, now: number): number => {
  const { parties, turns } = remembered(throttle, now);
  const surplus = sum([...parties.values()].map(({ failures }) => failures)) - FREE_FAILURES;
  if (surplus < 0) return 0;
  const count = countByGroup(parties);
  const turn = turnOf(textOf(party), party.kind, count);
  if (turn === SHARED_TURN && party.kind === 'device') return 0;
  const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** surplus) * failingParties(turn, parties, party.kind, count);
  const since = now - (turns.get(turn) ?? Number.NEGATIVE_INFINITY);
  // A turn in the future: the clock was set back.
  return since < 0 ? 0 : Math.max(0, wait - since);
};

/** The throttle after an attempt was admitted. */
export const counted = (throttle: LoginThrottle | null, party: Party, now: number): LoginThrottle => {
  const before = remembered(throttle, now);
  const text = textOf(party);
  const parties = new Map(before.parties);
  parties.set(text, { failures: (parties.get(text)?.failures ?? 0) + 1, lastAt: now });
  const taken = [before.parties, parties].map((each) => turnOf(text, party.kind, countByGroup(each)));
  return { lastAt: now, parties, turns: new Map([...before.turns, ...taken.map((turn) => [turn, now] as const)]) };
};

/** The throttle without an attempt that was admitted. */
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

/** The throttle after an admitted attempt had the right password: the earlier failures of its party are forgotten. */
export const succeeded = (throttle: LoginThrottle, party: Party): LoginThrottle => {
  const { parties, ...rest } = withdrawn(throttle, party);
  const text = textOf(party);
  return { ...rest, parties: new Map([...parties].filter(([each]) => each !== text)) };
};

/** Whether a throttle has no effect any more. */
export const isForgotten = ({ parties, lastAt }: LoginThrottle, now: number): boolean =>
  parties.size === 0 || now - lastAt >= MEMORY;

type Parties = LoginThrottle['parties'];

const remembered = (throttle: LoginThrottle | null, now: number): Pick<LoginThrottle, 'parties' | 'turns'> => ({
  parties: new Map([...(throttle?.parties ?? [])].filter(([, { lastAt }]) => now - lastAt < MEMORY)),
  turns: new Map([...(throttle?.turns ?? [])].filter(([, takenAt]) => now - takenAt < MEMORY)),
});

/** The texts of a party's groups, the widest first, then its own: each is a prefix of the next. */
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

/** The turn that a party waits for: that of its widest failing group, or else the shared one. */
const turnOf = (text: string, kind: Party['kind'], count: ReadonlyMap<string, number>): string => {
  const groups = groupsOf(text);
  const limits = LIMITS[kind].slice(-groups.length);
  return groups.find((group, at) => (count.get(group) ?? 0) >= (limits[at] ?? PARTY_LIMIT)) ?? SHARED_TURN;
};

/** How many failing parties and groups there are, each with its own turn. */
const failingParties = (
  turn: string,
  parties: Parties,
  kind: Party['kind'],
  count: ReadonlyMap<string, number>,
): number => {
  if (turn === SHARED_TURN) return 1;
  const turns = new Set([...parties.keys()].map((text) => turnOf(text, kind, count)));
  turns.delete(SHARED_TURN);
  return turns.size;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
