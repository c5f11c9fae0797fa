import { connect, postJson } from '../load/connection.ts';
import { type Parts, query } from '../parts/parts.ts';
import { percentile, rankSumZ } from '../report/statistics.ts';
import { figure, type Section, table } from '../report/table.ts';
import { PASSWORD, type System } from '../systems/system.ts';
import { TANDEM } from '../systems/systems.ts';
import { logInAll, newPeople, registerAll } from '../workloads/clients.ts';
import { prepare, whileRunning } from '../workloads/prepared-system.ts';

/** No account is tried so often that it would have to wait. */
const ACCOUNTS = 16;
const WARM_UP = 10;
/** As many refresh tokens as the service reads of a request, each to verify. They are of others: those of the account count. */
const COOKIES = 8;

const MAIL = {
  BASE_URL: 'http://localhost',
  LOGIN_BY_CODE: 'on',
  // It goes nowhere.
  MAIL_URL: 'smtp://127.0.0.1:9?requireTLS=false',
  MAIL_FROM: 'bench@localhost',
};
const systemWith = (env: Readonly<Record<string, string>>): System => ({
  ...TANDEM,
  env: { ...TANDEM.env, ...MAIL, ...env },
});

type Send = ReturnType<typeof connect>['send'];

/** A request about an account. @returns how long the service took, in milliseconds */
type Act = (account: string) => Promise<number>;

const actsWith = (send: Send, cookies: string) => {
  const timed = async (path: string, body: object, status: number, cookie = cookies) => {
    const startedAt = performance.now();
    const call = postJson(path, body, { status });
    const answer = await send({ ...call, headers: { ...call.headers, Cookie: cookie } });
    const took = performance.now() - startedAt;
    if (answer.status !== status) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
    return { took, cookie: answer.setCookie[0]?.split(';')[0] ?? '' };
  };
  const logIn =
    (password: string): Act =>
    async (account) =>
      (await timed('/auth/login', { account, password }, 401)).took;
  const requestCode: Act = async (account) => (await timed('/auth/login/code', { account }, 202, '')).took;
  const guessCode: Act = async (account) => {
    const { cookie } = await timed('/auth/login/code', { account }, 202, '');
    return (await timed('/auth/login/code/confirm', { code: '00000000' }, 401, cookie)).took;
  };
  return { wrong: logIn('not the password'), right: logIn(PASSWORD), requestCode, guessCode };
};

/** Two that must not be told apart. The second one is about an account that does not exist, unless it names another act. */
type Pair = { readonly what: string; readonly first: Act; readonly second?: Act };

type Comparison = { readonly system: System; readonly pairs: (acts: ReturnType<typeof actsWith>) => readonly Pair[] };

const COMPARISONS: readonly Comparison[] = [
  {
    system: systemWith({ EMAIL_VERIFICATION: 'off' }),
    pairs: ({ wrong, requestCode, guessCode }) => [
      { what: 'a wrong password', first: wrong },
      { what: 'a request for a code', first: requestCode },
      { what: 'a wrong code', first: guessCode },
    ],
  },
  {
    system: systemWith({ NEW_DEVICE_CODE: 'on' }),
    pairs: ({ wrong, right }) => [
      { what: 'a wrong password on a new device', first: wrong },
      { what: 'the right password on a new device', first: right, second: wrong },
    ],
  },
];

type Durations = {
  readonly what: string;
  readonly first: number[];
  readonly second: number[];
  readonly beside: string;
};

const measurePairs = async ({ system, pairs }: Comparison, parts: Parts, tries: number): Promise<Durations[]> => {
  const measured: Durations[] = [];
  const prepared = await prepare(system, parts);
  await query(prepared.storage.DATABASE_URL, 'update users set email_verified_at = created_at');
  await whileRunning(prepared, parts, async ({ origin }) => {
    const others = newPeople(COOKIES);
    await registerAll(origin, TANDEM.calls, others);
    const cookies = (await logInAll(origin, TANDEM.calls, others)).map(({ cookie }) => cookie).join('; ');
    const { send, close } = connect(origin);
    for (const { what, first, second } of pairs(actsWith(send, cookies))) {
      for (let number = 0; number < WARM_UP; number += 1) await first(`warm.up.${number}`);
      const durations = { first: [] as number[], second: [] as number[] };
      // Which of the two comes first takes turns, so that nothing that comes and goes meets the one alone.
      for (let number = 0; number < tries; number += 1) {
        const known = prepared.people[number % ACCOUNTS]?.username ?? '';
        const pair = [
          async () => void durations.first.push(await first(known)),
          async () =>
            void durations.second.push(await (second ? second(known) : first(`unknown.${number % ACCOUNTS}`))),
        ];
        for (const measure of number % 2 === 0 ? pair : pair.toReversed()) await measure();
      }
      measured.push({ what, ...durations, beside: second ? 'a wrong one' : 'of an unknown account' });
    }
    await close();
  });
  return measured;
};

/** Whether the time of an answer tells something about the account. One request at a time, log-ins with valid cookies of other accounts. */
export const measureLogInTiming = async (parts: Parts, { quick }: { readonly quick: boolean }): Promise<Section> => {
  const tries = quick ? 20 : 200;
  const measured: Durations[] = [];
  for (const comparison of COMPARISONS) measured.push(...(await measurePairs(comparison, parts, tries)));
  const row = (what: string, durations: readonly number[], z = '') => [
    what,
    ...[50, 90, 99].map((percent) => figure(percentile(durations, percent), 2)),
    z,
  ];
  return {
    title: 'Tandem: how long a refused log-in takes',
    text: [
      table(
        [`${tries} tries each`, 'p50, ms', 'p90, ms', 'p99, ms', 'z'],
        measured.flatMap(({ what, first, second, beside }) => [
          row(what, first),
          row(`… ${beside}`, second, figure(rankSumZ(first, second), 2)),
        ]),
      ),
      'z is that of the Mann–Whitney U test: within ±1.96 there is no difference to be seen.',
    ].join('\n\n'),
  };
};
