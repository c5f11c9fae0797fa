import { execFile, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifier } from '../../examples/resource-server/authenticate.ts';
import { readText } from '../support/checkout/repository.ts';
import { NOW, startFeed } from '../support/ended-feed.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, opened, servicesOverOneDatabase, signUp, tampered, tokenIn } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const PARTIES = { JWT_ISSUER: 'https://auth.example.com', JWT_AUDIENCE: 'https://api.example.com' };
const KEYS = testKeys();
const WAIT = { timeout: 20_000, interval: 50 };

type Verifier = ReturnType<typeof verifier>;

const verifierFor = (keySet: string): Verifier =>
  verifier({ keySet: new URL(keySet), issuer: PARTIES.JWT_ISSUER, audience: PARTIES.JWT_AUDIENCE });

const { start } = servicesOverOneDatabase();
const service = await start({ ...keyVariables(KEYS), ...PARTIES });
const authenticate = verifierFor(`${service.url}/.well-known/jwks.json`);
const ada = await signUp(service);

const statusOf = (authenticate: Verifier, authorization?: string): Promise<number> =>
  authenticate(authorization).then(
    () => 200,
    ({ status }) => status,
  );
const bearer = (token: string): string => `Bearer ${token}`;

describe('the verifier that docs/verify-tokens.md prints', () => {
  it('is that of the example', () => {
    const [, printed] = /```ts\n([\s\S]*?)```/.exec(readText('docs/verify-tokens.md')) ?? [];
    expect(printed).toBe(readText('examples/resource-server/authenticate.ts'));
  });

  it('accepts what it should, and refuses the rest', async () => {
    for (const [status, header] of await judgements())
      expect([header, await statusOf(authenticate, header ?? undefined)]).toEqual([header, status]);
  });

  it('accepts a token for five seconds after it has expired, since clocks differ', async () => {
    const token = ada.accessToken;
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    for (const [seconds, status] of [
      [4, 200],
      [6, 401],
    ] as const) {
      vi.useFakeTimers({ toFake: ['Date'], now: (exp + seconds) * 1_000 });
      expect(await statusOf(authenticate, bearer(token))).toBe(status);
    }
  });
});

/** A Python with PyJWT: that of the PATH, or that of the system (Debian's python3-jwt). */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import jwt, cryptography']).status === 0,
);

/** The printed code of a language with other addresses: the verifier, and the follower of ended sessions if there is a feed. */
const printedIn = (language: string, keySet: string, feed = ''): readonly string[] =>
  [...readText('docs/verify-tokens.md').matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))]
    .slice(0, feed === '' ? 1 : 2)
    .map(([, code = '']) =>
      code
        .replaceAll('https://auth.example.com/.well-known/jwks.json', keySet)
        .replace('https://auth.example.com/.well-known', `${feed}/.well-known`),
    );

/** The verifier, and a program that prints the status of each header. */
const programFor = (keySet: string): string => `${printedIn('python', keySet).join('\n\n')}
import json, sys

def status_of(authorization):
    try:
        authenticate(authorization)
        return 200
    except Refused as refused:
        return refused.status

print(json.dumps([status_of(each) for each in json.load(sys.stdin)]))
`;

const statusesIn = async (python: string, keySet: string, headers: readonly (string | null)[]): Promise<unknown> => {
  const run = promisify(execFile)(python, ['-c', programFor(keySet)]);
  run.child.stdin?.end(JSON.stringify(headers));
  return JSON.parse((await run).stdout);
};

/** Headers, each with the status that it has to get. */
const judgements = async (): Promise<readonly (readonly [number, string | null])[]> => {
  const made = async (difference: number) => {
    const off = fixedClock(Date.now() + difference);
    return bearer(
      (await signUp(await start({ ...keyVariables(KEYS), ...PARTIES }, () => ({ clock: off })))).accessToken,
    );
  };
  const other = await signUp(await start(PARTIES));
  const { http } = await start({ ...keyVariables(KEYS), ...PARTIES, JWT_BINDING: 'on' });
  const proof = await (await joseDeviceKey()).proof({ htu: 'https://auth.example.org/auth/register', now: Date.now() });
  const bound = heldFrom(await http.post('/auth/register').send({ ...aPerson(), proof })).accessToken;
  return [
    [200, bearer(ada.accessToken)],
    // Issued in the future.
    [200, await made(4_000)],
    [401, await made(-3_600_000)],
    [401, null],
    [401, 'Basic YTpi'],
    [401, bearer('none')],
    [401, bearer(tampered(ada.accessToken))],
    [401, bearer(tokenIn(ada.cookie))],
    // Its key is unknown.
    [401, bearer(other.accessToken)],
    // Its key was not proven.
    [401, bearer(bound)],
    [401, `DPoP ${bound}`],
  ];
};

describe.runIf(PYTHON !== undefined)('the Python code that docs/verify-tokens.md prints', () => {
  it('accepts what it should, and refuses the rest', async () => {
    const expected = await judgements();
    const headers = expected.map(([, header]) => header);
    expect(await statusesIn(PYTHON ?? '', `${service.url}/.well-known/jwks.json`, headers)).toEqual(
      expected.map(([status]) => status),
    );
  });

  it('answers 503 while the key set cannot be reached', async () => {
    const unreachable = 'http://127.0.0.1:1/jwks.json';
    expect(await statusesIn(PYTHON ?? '', unreachable, [bearer(ada.accessToken)])).toEqual([503]);
  });
});

const PYTHON_PROGRAM = `
import sys

for line in sys.stdin:
    try:
        authenticate(line.strip())
        print(200, flush=True)
    except Refused as refused:
        print(refused.status, flush=True)
`;
const GO_PROGRAM = `package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		_, err := Authenticate(lines.Text())
		fmt.Println(map[error]int{nil: 200, ErrInvalid: 401, ErrUnknown: 503}[err])
	}
}
`;
const GO = spawnSync('go', ['version']).status === 0;

/** Starts a program that prints a line for each that it reads. @returns a function that asks it */
const conversation = (file: string, args: readonly string[] = []) => {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (authorization: string): Promise<number> => {
    child.stdin.write(`${authorization}\n`);
    return Number((await lines.next()).value);
  };
};

/** Builds the files of a package with a program that judges lines, and starts it. */
const goConversation = (files: readonly string[]) => {
  const { path } = temporaryDirectory();
  const sources = [...files, GO_PROGRAM].map((code, place) => {
    const source = join(path, `file${place}.go`);
    writeFileSync(source, code);
    return source;
  });
  const { status, stderr } = spawnSync('go', ['build', '-o', join(path, 'program'), ...sources], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return conversation(join(path, 'program'));
};

describe.runIf(GO)('the Go code that docs/verify-tokens.md prints', () => {
  it('accepts what it should, and refuses the rest', async () => {
    const ask = goConversation(printedIn('go', `${service.url}/.well-known/jwks.json`));
    // It knows no key before it has read them.
    await vi.waitFor(async () => expect(await ask(bearer(ada.accessToken))).toBe(200), WAIT);
    const expected = await judgements();
    const statuses: number[] = [];
    for (const [, header] of expected) statuses.push(await ask(header ?? ''));
    expect(statuses).toEqual(expected.map(([status]) => status));
  }, 300_000);

  it('answers 503 while the key set cannot be reached', async () => {
    const ask = goConversation(printedIn('go', 'http://127.0.0.1:1/jwks.json'));
    expect(await ask(bearer(ada.accessToken))).toBe(503);
  }, 300_000);
});

/** Code in which the policy is `refuse`, from code in which it is `stale-ok`. */
const refusing = (code: string, staleOk: string, refuse: string): string => {
  expect(code).toContain(staleOk);
  return code.replace(staleOk, refuse);
};

const FOLLOWERS = {
  Python: (keySet: string, feed: string, policy: string) => {
    const code = printedIn('python', keySet, feed).join('\n\n');
    const chosen = policy === 'refuse' ? refusing(code, 'STALE_AFTER = float("inf")', 'STALE_AFTER = 60') : code;
    return conversation(PYTHON ?? '', ['-c', chosen + PYTHON_PROGRAM]);
  },
  Go: (keySet: string, feed: string, policy: string) => {
    const [verifier = '', follower = ''] = printedIn('go', keySet, feed);
    const chosen =
      policy === 'refuse' ? refusing(follower, 'staleAfter = 0 * time.Second', 'staleAfter = time.Minute') : follower;
    return goConversation([verifier, chosen]);
  },
};
const TOOLS = { Python: PYTHON !== undefined, Go: GO };

describe.each(['Python', 'Go'] as const)(
  'the follower of ended sessions in %s that docs/verify-tokens.md prints',
  (language) => {
    const keySet = () => `${service.url}/.well-known/jwks.json`;
    const isThere = TOOLS[language];

    it.runIf(isThere)(
      'refuses who has logged out, and goes on while the service is gone',
      async () => {
        const feed = await startFeed(KEYS.access);
        const iss = PARTIES.JWT_ISSUER;
        await feed.publish({ iss });
        const ask = FOLLOWERS[language](keySet(), feed.url, 'stale-ok');
        const bob = await signUp(service);
        await vi.waitFor(async () => expect(await ask(bearer(bob.accessToken))).toBe(200), WAIT);
        const headers = [
          bearer(ada.accessToken),
          bearer(tampered(ada.accessToken)),
          bearer(tokenIn(ada.cookie)),
          'Basic YTpi',
        ];
        const statuses = async () => {
          const all: number[] = [];
          for (const each of headers) all.push(await ask(each));
          return all;
        };
        expect(await statuses()).toEqual([200, 401, 401, 401]);

        const { sid } = opened(bob.accessToken).header;
        await feed.publish({ iss, sessions: [{ sid, event_timestamp: NOW }] });
        await vi.waitFor(async () => expect(await ask(bearer(bob.accessToken))).toBe(401), WAIT);
        await feed.stop();
        expect(await ask(bearer(bob.accessToken))).toBe(401);
        expect(await statuses()).toEqual([200, 401, 401, 401]);
      },
      300_000,
    );

    it.runIf(isThere)(
      'answers 503 without a list, if it is told to',
      async () => {
        const ask = FOLLOWERS[language](keySet(), 'http://127.0.0.1:1', 'refuse');
        // The Go code knows no key before it has read them.
        await vi.waitFor(async () => expect(await ask(bearer(tampered(ada.accessToken)))).toBe(401), WAIT);
        expect(await ask(bearer(ada.accessToken))).toBe(503);
      },
      300_000,
    );
  },
);
