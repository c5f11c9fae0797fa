/** What the bench gives every system in its environment. The names are Tandem's. */
const variable = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

export const port = (): number => Number(variable('PORT'));
export const databaseUrl = (): string => variable('DATABASE_URL');
export const redisUrl = (): string => variable('REDIS_URL');

/** PEM. */
export const tokenKeys = () => ({
  access: { privateKey: variable('JWT_ACCESS_PRIVATE_KEY'), publicKey: variable('JWT_ACCESS_PUBLIC_KEY') },
  refresh: { privateKey: variable('JWT_REFRESH_PRIVATE_KEY'), publicKey: variable('JWT_REFRESH_PUBLIC_KEY') },
});

export const HOST = '127.0.0.1';
/** As Tandem's default. */
export const DATABASE_POOL_SIZE = 10;
/** SPEC "Password handling". */
export const BCRYPT_COST = 10;
/** On, and so high that nothing is refused. Requests, and seconds. */
export const RATE_LIMIT = { max: 100_000_000, window: 60 };
export const ACCESS_LIFETIME = '15m';
export const REFRESH_LIFETIME = '7d';
/** Seconds. */
export const REFRESH_LIFETIME_SECONDS = 7 * 24 * 60 * 60;
