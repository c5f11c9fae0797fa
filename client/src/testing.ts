import { AuthError } from './auth-error.ts';
import type { AuthClient, AuthClientOptions, AuthErrorCode, Change, SessionInfo, StepUpReason, User } from './types.ts';

/** The names of the calls that a test can see and make fail. */
export type FakeCall =
  | {
      [Name in keyof AuthClient]: AuthClient[Name] extends (...args: never[]) => Promise<unknown> ? Name : never;
    }[keyof AuthClient]
  | `sessions.${keyof AuthClient['sessions']}`;

export type FakeAuthClientOptions = {
  /** The user who is logged in at the start, with example values for missing members. Default: nobody is logged in. */
  readonly user?: Partial<User> | null | undefined;
  /** What `sessions.list()` resolves to. */
  readonly sessions?: readonly SessionInfo[] | undefined;
  /** What `fetch` answers. Default: an empty success. */
  readonly fetch?: AuthClient['fetch'] | undefined;
  readonly onStepUp?: AuthClientOptions['onStepUp'];
};

/** An AuthClient in memory, with members by which a test controls it. */
export type FakeAuthClient = AuthClient & {
  /** The calls so far, each with its arguments. */
  readonly calls: readonly (readonly [FakeCall, ...unknown[]])[];
  /** Acts as if somebody had logged in or out in another tab, or the session had ended. */
  readonly becomes: (user: Partial<User> | null, why?: Change) => void;
  /** Makes the next call of a name reject with an AuthError. */
  readonly failNext: (
    call: FakeCall,
    code: AuthErrorCode,
    more?: Partial<Pick<AuthError, 'retryable' | 'retryAfter' | 'fields'>>,
  ) => void;
  /** Makes the next `fetch` ask for a step-up, as the service does. */
  readonly askStepUp: (reason: StepUpReason) => void;
};

const EXAMPLE_TIME = '2026-01-01T00:00:00.000Z';

const userOf = (members: Partial<User>): User => {
  const { username = 'ada' } = members;
  return {
    id: `id-of-${username}`,
    username,
    email: `${username}@example.org`,
    createdAt: EXAMPLE_TIME,
    updatedAt: EXAMPLE_TIME,
    ...members,
  };
};

const stepUpResponse = (reason: StepUpReason): Response => {
  const wanted = reason === 'recent' ? 'max_age="300"' : 'acr_values="aal2"';
  const code = 'AUTH_STEP_UP_REQUIRED';
  return Response.json(
    { success: false, code, message: code, details: null },
    { status: 401, headers: { 'WWW-Authenticate': `Bearer error="insufficient_user_authentication", ${wanted}` } },
  );
};

/**
 * An AuthClient in memory, for tests of applications, without a service, a browser and timers. Every log-in succeeds, unless a test makes it fail.
 * Listeners are called before a call resolves.
 * @example
 * const auth = createFakeAuthClient({ user: { username: 'ada' } });
 * auth.failNext('logout', 'CLIENT_NETWORK_OFFLINE');
 */
export const createFakeAuthClient = (options: FakeAuthClientOptions = {}): FakeAuthClient => {
  const listeners = new Set<Parameters<FakeAuthClient['onChange']>[0]>();
  const calls: [FakeCall, ...unknown[]][] = [];
  const failures: [FakeCall, AuthError][] = [];
  const stepUps: StepUpReason[] = [];
  let user: User | null = options.user ? userOf(options.user) : null;

  const becomes: FakeAuthClient['becomes'] = (next, why = next ? 'login' : 'logout') => {
    user = next && userOf(next);
    for (const listener of listeners) listener(user, why);
  };
  /** Records a call, and rejects if a test has asked for that. */
  const call = async <Result>(
    name: FakeCall,
    args: readonly unknown[],
    result: () => Result,
  ): Promise<Awaited<Result>> => {
    calls.push([name, ...args]);
    const failure = failures.find(([each]) => each === name);
    if (failure) failures.splice(failures.indexOf(failure), 1);
    await undefined;
    if (failure) throw failure[1];
    return await result();
  };
  const enter = (username: string): User => {
    becomes(user?.username === username ? user : { username });
    return user as User;
  };
  const done = (): void => undefined;

  return {
    calls,
    becomes,
    failNext: (name, code, more) => {
      failures.push([name, new AuthError(code, code, more)]);
    },
    askStepUp: (reason) => {
      stepUps.push(reason);
    },
    get user() {
      return user;
    },
    binding: 'none',
    ready: Promise.resolve(user),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    register: (registration) =>
      call('register', [registration], () => {
        const { email, username = email.slice(0, email.indexOf('@')) } = registration;
        becomes({ username, email });
        return user;
      }),
    login: (credentials) => call('login', [credentials], () => enter(credentials.account)),
    requestCode: (account) => call('requestCode', [account], () => null),
    logInWithCode: (code) =>
      call('logInWithCode', [code], () =>
        enter(`${calls.filter(([name]) => name === 'requestCode').at(-1)?.[1] ?? 'ada'}`),
      ),
    logInAt: (...args: unknown[]) => call('logInAt', args, () => enter(user?.username ?? 'ada')),
    logInWith: (...args) => call('logInWith', args, () => void enter(user?.username ?? 'ada')),
    linkTo: (page) => `https://auth.example.org/auth/${page}`,
    logout: () => call('logout', [], () => becomes(null)),
    stepUp: (factor) => call('stepUp', [factor], done),
    refresh: () => call('refresh', [], () => user),
    changePassword: (change) => call('changePassword', [change], done),
    sessions: {
      list: () => call('sessions.list', [], () => options.sessions ?? []),
      end: (id) => call('sessions.end', [id], done),
      endOthers: () => call('sessions.endOthers', [], done),
    },
    fetch: (input, init) =>
      call('fetch', [input, init], async () => {
        const reason = stepUps.shift();
        if (reason && !options.onStepUp) return stepUpResponse(reason);
        if (reason) await options.onStepUp?.(reason);
        return options.fetch ? options.fetch(input, init) : Response.json({ success: true, data: null });
      }),
    accessToken: () => call('accessToken', [], () => (user ? 'a-token' : null)),
    dispose: () => listeners.clear(),
  };
};
