/** What is needed here of the driver's pool and its clients. */
type Pool = { on(event: 'connect', listener: (client: Client) => void): unknown };
type Client = {
  query: (...given: readonly unknown[]) => unknown;
  readonly connection: { readonly stream: { destroy(): void } };
};

/**
 * A connection whose query got no answer in time goes: the driver would give it to the next request, which would wait in vain
 * too, until the operating system finds out that nobody is there.
 */
export const dropSilentConnections = (pool: Pool): void => {
  pool.on('connect', (client) => {
    const query = client.query.bind(client);
    client.query = (...given) => {
      const answer = query(...given);
      if (answer instanceof Promise) {
        answer.catch((error: Error) => {
          if (error.message === 'Query read timeout') client.connection.stream.destroy();
        });
      }
      return answer;
    };
  });
};
