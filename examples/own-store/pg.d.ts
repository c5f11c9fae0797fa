/** What this example uses of the driver. With `@types/pg` installed, delete this file. */
declare module 'pg' {
  export type QueryResult = { rows: Readonly<Record<string, unknown>>[]; rowCount: number | null; command: string };
  export type PoolClient = {
    query(text: string, values?: readonly unknown[]): Promise<QueryResult>;
    on(event: 'error', listener: (error: Error) => void): unknown;
    /** @param isBroken closes the connection. */
    release(isBroken?: boolean): void;
  };
  export class Pool {
    constructor(options: Readonly<Record<string, unknown>>);
    query: PoolClient['query'];
    connect(): Promise<PoolClient>;
    on(event: 'connect', listener: (client: PoolClient) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    end(): Promise<void>;
  }
}
