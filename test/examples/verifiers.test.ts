import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifier } from '../../examples/resource-server/authenticate.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { NOW, startFeed } from '../support/ended-feed.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { decode, forged, servicesOverOneDatabase, signUp, tokenIn, tokensOf } from '../support/http/auth-http.ts';
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

describe('the verifier of examples/resource-server', () => {
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
  const bound = tokensOf(await http.post('/auth/register').send({ ...aPerson(), proof })).accessToken;
  return [
    [200, bearer(ada.accessToken)],
    // Issued in the future.
    [200, await made(4_000)],
    [401, await made(-3_600_000)],
    [401, null],
    [401, 'Basic YTpi'],
    [401, bearer('none')],
    [401, bearer(forged(ada.accessToken))],
    [401, bearer(tokenIn(ada.cookie))],
    // Its key is unknown.
    [401, bearer(other.accessToken)],
    // Its key was not proven.
    [401, bearer(bound)],
    [401, `DPoP ${bound}`],
  ];
};

/** A Python with PyJWT: that of the PATH, or that of the system (Debian's python3-jwt). */
const PYTHON = ['python3', '/usr/bin/python3']
  .map((python) =>
    spawnSync(python, ['-c', 'import jwt, cryptography, sys; print(sys.executable)'], { encoding: 'utf8' }),
  )
  .find(({ status }) => status === 0)
  ?.stdout.trim();
const GO = spawnSync('go', ['version']).status === 0;

/** Programs that print the status of each header that they read. */
const PYTHON_PROGRAM = `
import sys
from tandem import Refused, authenticate

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
	"time"

	"api/tandem"
)

func main() {
	v := &tandem.Verifier{Issuer: os.Getenv("JWT_ISSUER"), Audience: os.Getenv("JWT_AUDIENCE"), KeySet: os.Getenv("KEY_SET")}
	v.EndedSessions = os.Getenv("ENDED_SESSIONS")
	if os.Getenv("WHEN_STALE") == "refuse" {
		v.StaleAfter = time.Minute
	}
	v.Start()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		_, err := v.Authenticate(lines.Text())
		fmt.Println(map[error]int{nil: 200, tandem.ErrInvalid: 401, tandem.ErrUnknown: 503}[err])
	}
}
`;

const { path: go } = temporaryDirectory();
const builtGo = (): string => {
  const program = join(go, 'program');
  if (existsSync(program)) return program;
  mkdirSync(join(go, 'tandem'));
  writeFileSync(join(go, 'tandem/tandem.go'), readText('examples/resource-server/tandem.go'));
  writeFileSync(join(go, 'main.go'), GO_PROGRAM);
  writeFileSync(join(go, 'go.mod'), 'module api\n');
  const { status, stderr } = spawnSync('go', ['build', '-o', program], { cwd: go, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return program;
};

const LANGUAGES = {
  // -B: it leaves no compiled file beside the example.
  Python: { isThere: PYTHON !== undefined, command: () => [PYTHON ?? '', '-B', '-c', PYTHON_PROGRAM] },
  Go: { isThere: GO, command: () => [builtGo()] },
};

/** Starts the verifier of a language. @returns a function that asks it */
const conversation = (language: keyof typeof LANGUAGES, keySet: string, feed: string, whenStale = 'stale-ok') => {
  const [file = '', ...args] = LANGUAGES[language].command();
  const env = {
    ...{ ...PARTIES, KEY_SET: keySet, ENDED_SESSIONS: `${feed}/.well-known/ended-sessions`, WHEN_STALE: whenStale },
    PYTHONPATH: join(ROOT, 'examples/resource-server'),
  };
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (authorization: string): Promise<number> => {
    child.stdin.write(`${authorization}\n`);
    return Number((await lines.next()).value);
  };
};

const HERE = (['Python', 'Go'] as const).filter((language) => LANGUAGES[language].isThere);

describe.each(HERE)('the verifier in %s of examples/resource-server', { timeout: 300_000 }, (language) => {
  const keySet = () => `${service.url}/.well-known/jwks.json`;
  const NOWHERE = 'http://127.0.0.1:1';

  it('accepts what it should, and refuses the rest', async () => {
    const ask = conversation(language, keySet(), service.url);
    // The Go code knows no key before it has read them.
    await vi.waitFor(async () => expect(await ask(bearer(ada.accessToken))).toBe(200), WAIT);
    const expected = await judgements();
    const statuses: number[] = [];
    for (const [, header] of expected) statuses.push(await ask(header ?? ''));
    expect(statuses).toEqual(expected.map(([status]) => status));
  });

  it('answers 503 while the key set cannot be reached', async () => {
    const ask = conversation(language, `${NOWHERE}/jwks.json`, service.url);
    expect(await ask(bearer(ada.accessToken))).toBe(503);
  });

  it('refuses who has logged out, and goes on while the service is gone', async () => {
    const feed = await startFeed(KEYS.access);
    const iss = PARTIES.JWT_ISSUER;
    await feed.publish({ iss });
    const ask = conversation(language, keySet(), feed.url);
    const bob = await signUp(service);
    await vi.waitFor(async () => expect(await ask(bearer(bob.accessToken))).toBe(200), WAIT);
    const headers = [
      bearer(ada.accessToken),
      bearer(forged(ada.accessToken)),
      bearer(tokenIn(ada.cookie)),
      'Basic YTpi',
    ];
    const statuses = async () => {
      const all: number[] = [];
      for (const each of headers) all.push(await ask(each));
      return all;
    };
    expect(await statuses()).toEqual([200, 401, 401, 401]);

    const { sid } = decode(bob.accessToken).header;
    await feed.publish({ iss, sessions: [{ sid, event_timestamp: NOW }] });
    await vi.waitFor(async () => expect(await ask(bearer(bob.accessToken))).toBe(401), WAIT);
    await feed.stop();
    expect(await ask(bearer(bob.accessToken))).toBe(401);
    expect(await statuses()).toEqual([200, 401, 401, 401]);
  });

  it('answers 503 without a list, if it is told to', async () => {
    const ask = conversation(language, keySet(), NOWHERE, 'refuse');
    await vi.waitFor(async () => expect(await ask(bearer(forged(ada.accessToken)))).toBe(401), WAIT);
    expect(await ask(bearer(ada.accessToken))).toBe(503);
  });
});
