type Pooled = {
  /** Returns the connection to the pool, which closes it if there is an error. Missing until the pool gives the connection away. */
  release?: (error?: Error) => void;
};

/** Makes the pool close the connection when it is returned, instead of giving it to the next caller. */
export const discardWhenReleased = (client: Pooled, reason: string): void => {
  const { release } = client;
  client.release = () => release?.(new Error(reason));
};
