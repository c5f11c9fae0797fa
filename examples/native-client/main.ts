import { createInterface } from 'node:readline';
import { openSession, Refused } from './session.ts';
import { openStore } from './store.ts';

const { BASE_URL: baseUrl = 'http://localhost:3000', SESSION_FILE = 'session.json' } = process.env;
const [command, account = ''] = process.argv.slice(2);

const session = openSession({ baseUrl, store: openStore(SESSION_FILE) });
const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();
const ask = async (question: string): Promise<string> => {
  process.stderr.write(`${question}: `);
  return (await lines.next()).value ?? '';
};

const logIn = async (): Promise<unknown> => {
  try {
    return await session.logIn(account, await ask('Password'));
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'AUTH_SECOND_FACTOR_REQUIRED') throw error;
    return session.showFactor({ code: await ask('Code') });
  }
};

const commands: Readonly<Record<string, () => Promise<unknown>>> = {
  login: logIn,
  me: () => session.get('/users/me'),
  logout: session.logOut,
};
const run = commands[command ?? ''];
try {
  if (run === undefined) throw new Error('login ACCOUNT, me, or logout');
  const result = await run();
  process.stdout.write(`${JSON.stringify(result ?? null, null, 2)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Refused ? `${error.code}: ` : ''}${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  input.close();
}
