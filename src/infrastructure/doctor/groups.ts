import { pageOriginsOf } from '../config/http-settings.ts';
import type { VariableName } from '../config/variables.ts';
import { KEEP_ALIVE_TIMEOUT } from '../http-server/open-server.ts';
import { configurationFindings } from './checks/configuration.ts';
import { cookieFindings } from './checks/cookie.ts';
import { proxyFindings } from './checks/proxy.ts';
import { secretFindings } from './checks/secrets.ts';
import { timeOutFindings, timeOutsOf } from './checks/time-outs.ts';
import type { Finding } from './finding.ts';
import { database } from './groups/database.ts';
import { keys } from './groups/keys.ts';
import { mail } from './groups/mail.ts';
import { redis } from './groups/redis.ts';
import type { Patient } from './patient.ts';
import { secretFiles } from './probes/secret-files.ts';

type Group = {
  /** The beginning of the ids of its findings. */
  readonly name: string;
  readonly title: string;
  /** Variables without which it is not examined. */
  readonly needs: readonly VariableName[];
  readonly examine: (patient: Patient) => Finding[] | Promise<Finding[]>;
};

/** In the order of the report. */
export const GROUPS: readonly Group[] = [
  { name: 'configuration', title: 'Configuration', needs: [], examine: configurationFindings },
  { name: 'keys', title: 'Keys', needs: ['DATA_DIR'], examine: keys },
  {
    name: 'cookie',
    title: 'Cookie',
    needs: [
      'BASE_URL',
      'ALLOWED_ORIGINS_DEV',
      'ALLOWED_ORIGINS_PROD',
      'JWT_REFRESH_COOKIE_SAME_SITE',
      'JWT_REFRESH_COOKIE_SECURE',
    ],
    examine: ({ config, env }) =>
      cookieFindings({
        ...config,
        pageOrigins: pageOriginsOf(config, config.mail !== null && config.ownAccountPages),
        isBaseUrlSet: Boolean(env.BASE_URL),
      }),
  },
  {
    name: 'proxy',
    title: 'Proxy',
    needs: ['HOST', 'BASE_URL', 'TRUST_PROXY'],
    examine: ({ config }) => proxyFindings(config),
  },
  {
    name: 'time-outs',
    title: 'Time-outs',
    needs: ['REQUEST_TIMEOUT_MS', 'DATABASE_CONNECTION_TIMEOUT', 'DATABASE_STATEMENT_TIMEOUT'],
    examine: ({ config }) => timeOutFindings(timeOutsOf(config, KEEP_ALIVE_TIMEOUT)),
  },
  {
    name: 'database',
    title: 'Database',
    needs: ['DATABASE_URL', 'DATA_DIR', 'MIGRATE_ON_START', 'DATABASE_POOL_SIZE'],
    examine: database,
  },
  { name: 'redis', title: 'Redis', needs: ['REDIS_URL', 'REDIS_PASSWORD'], examine: redis },
  { name: 'mail', title: 'Mail', needs: ['NODE_ENV', 'MAIL_URL', 'MAIL_FROM'], examine: mail },
  {
    name: 'secrets',
    title: 'Secrets',
    needs: ['DATA_DIR'],
    examine: async ({ config, ...places }) =>
      secretFindings(
        await secretFiles({
          ...places,
          dataDir: config.dataDir,
          databaseUrl: config.database.kind === 'postgresql' ? config.database.url : null,
        }),
      ),
  },
];
