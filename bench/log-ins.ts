import bcrypt from 'bcrypt';
import { type Client, succeeded } from './http.ts';
import { median } from './statistics.ts';
import { throughput } from './throughput.ts';

const CONCURRENCY = 16;
/** Milliseconds of one measurement, and how often the two are measured in turn. */
const DURATION = 5_000;
const ROUNDS = 3;

/** How many people log in, one after the other: a person has few sessions. */
const PEOPLE = 64;

/** Log-ins over HTTP beside the bare comparison that each of them cannot do without. */
export const benchLogIns = async ({ post }: Client, password: string): Promise<void> => {
  const people = Array.from({ length: PEOPLE }, (_, index) => `person-${index}`);
  const register = async (username: string) =>
    succeeded(await post('/auth/register', { username, email: `${username}@example.org`, password }));
  await Promise.all(people.map(register));
  let turn = 0;
  const hash = await bcrypt.hash(password, 10);
  const bare: number[] = [];
  const logIns: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await throughput(() => bcrypt.compare(password, hash), CONCURRENCY, DURATION));
    const logIn = async () => succeeded(await post('/auth/login', { account: people[turn++ % PEOPLE], password }));
    logIns.push(await throughput(logIn, CONCURRENCY, DURATION));
  }
  console.log(`bare bcrypt.compare, cost 10, ${CONCURRENCY} at once: ${median(bare).toFixed(1)} /s`);
  console.log(`log-ins over HTTP, ${CONCURRENCY} at once:            ${median(logIns).toFixed(1)} /s`);
  console.log(`ratio:                                    ${(median(logIns) / median(bare)).toFixed(3)}`);
};
