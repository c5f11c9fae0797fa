import { fileURLToPath } from 'node:url';
import { documentedHttp, type Http } from '../openapi/documented-http.ts';
import { DEVELOPMENT } from './environments.ts';
import { type RunningService, runService } from './process.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/own-store/main.ts', import.meta.url));

/** A process of the example, with a supertest client. */
export type ExampleProcess = RunningService & { readonly http: Http };

/** Starts `examples/own-store`, or a copy of it, in a new process, without rate limits. */
export const startExample = async (
  env: Readonly<Record<string, string>>,
  program = EXAMPLE,
): Promise<ExampleProcess> => {
  const off = { RATE_LIMITS: 'off' };
  const service = await runService({ ...DEVELOPMENT, ...off, ...env }, [], program);
  return { ...service, http: documentedHttp(service.url) };
};
