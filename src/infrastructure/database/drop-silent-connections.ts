/** The parts of the driver's pool and clients that are used here. */
type Pool = { on(event: 'connect', listener: (client: Client) => void): unknown };
type Client = {
  query: (...given: readonly unknown[]) => unknown;
  readonly connection: { readonly stream: { destroy(): void } };
};

/**
 * Destroys a connection whose query timed out. The driver would otherwise give it to the next request, which would time out too,
 * until the operating system notices that the peer is gone.
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
