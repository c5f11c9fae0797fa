import type { Json } from '../../../src/adapters/http/openapi/components.ts';
import { openApiDocument } from '../../../src/adapters/http/openapi/document.ts';
import { isDescribed, type Route } from '../../../src/adapters/http/routing/define-route.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { compose } from '../../../src/infrastructure/compose.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { VERSION } from '../../../src/infrastructure/version.ts';
import { ALL_ROUTES } from '../http/all-routes.ts';
import { testKeys } from '../keys.ts';
import { silentLogger } from '../silent-logger.ts';

export const DOCUMENT = 'docs/openapi.json';

const BASE_URL = 'https://auth.example.org';

/** Every route for programs that the service can have. */
export const currentRoutes = async (): Promise<readonly Route[]> => {
  const config = parseConfig({ NODE_ENV: 'test', BASE_URL, ...ALL_ROUTES });
  const service = await compose({ ...config, keys: testKeys() }, silentLogger, { storage: memoryStorage() });
  await service.close();
  return service.routes.filter(isDescribed);
};

/** The document of the service as the code declares it now. */
export const currentDocument = async (): Promise<Json> =>
  openApiDocument(await currentRoutes(), { baseUrl: BASE_URL, version: VERSION });

export const asText = (document: Json): string => `${JSON.stringify(document, null, 2)}\n`;
