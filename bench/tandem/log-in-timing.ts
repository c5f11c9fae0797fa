import { connect, postJson } from '../load/connection.ts';
import { ALL } from '../machine/cores.ts';
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

/** Whether the time of a refusal tells if the account exists. One log-in at a time, with valid cookies of other accounts. */
export const measureLogInTiming = async (parts: Parts, { quick }: { readonly quick: boolean }): Promise<Section> => {
  const tries = quick ? 20 : 200;
  const ofKnown: number[] = [];
  const ofUnknown: number[] = [];
  const prepared = await prepare(TANDEM, parts);
  await whileRunning(prepared, parts, ALL, async ({ origin }) => {
    const others = newPeople(COOKIES);
    await registerAll(origin, TANDEM.calls, others);
    const cookies = (await logInAll(origin, TANDEM.calls, others)).map(({ cookie }) => cookie).join('; ');
    const { send, close } = connect(origin);
    const refusal = async (account: string): Promise<number> => {
      const startedAt = performance.now();
      const call = postJson('/auth/login', { account, password: 'not the password' }, { status: 401 });
      const { status } = await send({ ...call, headers: { ...call.headers, Cookie: cookies } });
      if (status !== 401) throw new Error(`log-in answered ${status}`);
      return performance.now() - startedAt;
    };
    for (let number = 0; number < WARM_UP; number += 1) await refusal(`warm.up.${number}`);
    // Which of the two comes first takes turns, so that nothing that comes and goes meets the one alone.
    for (let number = 0; number < tries; number += 1) {
      const known = prepared.people[number % ACCOUNTS]?.username ?? '';
      const pair = [
        async () => void ofKnown.push(await refusal(known)),
        async () => void ofUnknown.push(await refusal(`unknown.${number % ACCOUNTS}`)),
      ];
      for (const measure of number % 2 === 0 ? pair : pair.toReversed()) await measure();
    }
    await close();
  });
  const row = (what: string, durations: readonly number[]) => [
    what,
    ...[50, 90, 99].map((percent) => figure(percentile(durations, percent), 2)),
  ];
  const z = figure(rankSumZ(ofKnown, ofUnknown), 2);
  return {
    title: 'Tandem: how long a refused log-in takes',
    text: [
      table(
        [`${tries} tries each`, 'p50, ms', 'p90, ms', 'p99, ms'],
        [row('known account, wrong password', ofKnown), row('unknown account', ofUnknown)],
      ),
      `Mann–Whitney U: z = ${z} (within ±1.96: no difference to be seen).`,
    ].join('\n\n'),
  };
};
