import { useCallback, useEffect, useState } from 'react';
import type { AuthClient, SessionInfo } from 'tandem-client';
import { useAttempt } from './attempt.ts';

/** The sessions of the user, each with a button that ends it. */
export const Sessions = ({ auth }: { auth: AuthClient }) => {
  const { problem, attempt } = useAttempt();
  const [sessions, setSessions] = useState<readonly SessionInfo[]>([]);
  const load = useCallback(async () => setSessions(await auth.sessions.list()), [auth]);
  const end = async (id: string) => {
    await auth.sessions.end(id);
    await load();
  };

  useEffect(() => {
    attempt(load);
  }, [attempt, load]);

  return (
    <section>
      <h2>Sessions</h2>
      {problem && <p role="alert">{problem}</p>}
      <ul>
        {sessions.map(({ id, name, userAgent, lastUsedAt, current }) => (
          <li key={id}>
            {name ?? userAgent ?? 'unknown device'}, {new Date(lastUsedAt).toLocaleString()}{' '}
            {current ? (
              '(this one)'
            ) : (
              <button type="button" onClick={() => attempt(() => end(id))}>
                End
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
};
