import { connect, postJson } from '../load/connection.ts';
import type { Parts } from '../parts/parts.ts';
import { percentile, rankSumZ } from '../report/statistics.ts';
import { figure, type Section, table } from '../report/table.ts';
import { TANDEM } from '../systems/systems.ts';
import { logInAll, newPeople, registerAll } from '../workloads/clients.ts';
import { prepare, whileRunning } from '../workloads/prepared-system.ts';

/** No account is tried so often that it would have to wait. */
const ACCOUNTS = 4;
const WARM_UP = 10;
/** As many refresh tokens as the service reads of a request, each to verify. They are of others: those of the account count. */
const COOKIES = 8;

/** With codes by mail, which goes nowhere. */
const SYSTEM = {
  ...TANDEM,
  env: {
    ...TANDEM.env,
    BASE_URL: 'http://localhost',
    EMAIL_VERIFICATION: 'off',
    LOGIN_BY_CODE: 'on',
    MAIL_URL: 'smtp://127.0.0.1:9?requireTLS=false',
    MAIL_FROM: 'bench@localhost',
  },
};

type Send = ReturnType<typeof connect>['send'];

/** Each returns how long the service took, in milliseconds. */
const actsWith = (send: Send, cookies: string) => {
  const timed = async (path: string, body: object, status: number, cookie = cookies) => {
    const startedAt = performance.now();
    const call = postJson(path, body, { status });
    const answer = await send({ ...call, headers: { ...call.headers, Cookie: cookie } });
    const took = performance.now() - startedAt;
    if (answer.status !== status) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
    return { took, cookie: answer.setCookie[0]?.split(';')[0] ?? '' };
  };
  return {
    'a wrong password': async (account: string) =>
      (await timed('/auth/login', { account, password: 'not the password' }, 401)).took,
    'a request for a code': async (account: string) => (await timed('/auth/login/code', { account }, 202, '')).took,
    'a wrong code': async (account: string) => {
      const { cookie } = await timed('/auth/login/code', { account }, 202, '');
      return (await timed('/auth/login/code/confirm', { code: '00000000' }, 401, cookie)).took;
    },
  };
};

type Durations = { readonly ofKnown: number[]; readonly ofUnknown: number[] };

/** Whether the time of a refusal tells if the account exists. One request at a time, log-ins with valid cookies of other accounts. */
export const measureLogInTiming = async (parts: Parts, { quick }: { readonly quick: boolean }): Promise<Section> => {
  const tries = quick ? 20 : 200;
  const measured: (readonly [what: string, Durations])[] = [];
  const prepared = await prepare(SYSTEM, parts);
  await whileRunning(prepared, parts, async ({ origin }) => {
    const others = newPeople(COOKIES);
    await registerAll(origin, TANDEM.calls, others);
    const cookies = (await logInAll(origin, TANDEM.calls, others)).map(({ cookie }) => cookie).join('; ');
    const { send, close } = connect(origin);
    for (const [what, act] of Object.entries(actsWith(send, cookies))) {
      for (let number = 0; number < WARM_UP; number += 1) await act(`warm.up.${number}`);
      const durations: Durations = { ofKnown: [], ofUnknown: [] };
      // Which of the two comes first takes turns, so that nothing that comes and goes meets the one alone.
      for (let number = 0; number < tries; number += 1) {
        const known = prepared.people[number % ACCOUNTS]?.username ?? '';
        const pair = [
          async () => void durations.ofKnown.push(await act(known)),
          async () => void durations.ofUnknown.push(await act(`unknown.${number % ACCOUNTS}`)),
        ];
        for (const measure of number % 2 === 0 ? pair : pair.toReversed()) await measure();
      }
      measured.push([what, durations]);
    }
    await close();
  });
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
        measured.flatMap(([what, { ofKnown, ofUnknown }]) => [
          row(`known account, ${what}`, ofKnown),
          row(`unknown account, ${what}`, ofUnknown, figure(rankSumZ(ofKnown, ofUnknown), 2)),
        ]),
      ),
      'z is that of the Mann–Whitney U test: within ±1.96 there is no difference to be seen.',
    ].join('\n\n'),
  };
};
