import type { Json } from '../../../src/adapters/http/openapi/components.ts';
import { openApiDocument } from '../../../src/adapters/http/openapi/document.ts';
import { isDescribed, type Route } from '../../../src/adapters/http/routing/define-route.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { compose, type RunningService } from '../../../src/infrastructure/compose.ts';
import type { Env } from '../../../src/infrastructure/config/variables.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { VERSION } from '../../../src/infrastructure/version.ts';
import { ALL_ROUTES } from '../http/all-routes.ts';
import { OFFICE, WITH_OFFICE } from '../http/back-office.ts';
import { testKeys } from '../keys.ts';
import { silentLogger } from '../silent-logger.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';

export const DOCUMENT = 'docs/openapi.json';

const BASE_URL = 'https://auth.example.org';

const composeService = async (env: Env): Promise<RunningService> => {
  // The service writes the keys that it makes to DATA_DIR, which must not be that of the checkout.
  const { path, remove } = temporaryDirectory();
  try {
    const config = parseConfig({ NODE_ENV: 'test', BASE_URL, DATA_DIR: path, ...env });
    const service = await compose({ ...config, keys: testKeys() }, silentLogger, { storage: memoryStorage() });
    await service.close();
    return service;
  } finally {
    remove();
  }
};

/** Every documented route that the service can have. */
export const currentRoutes = async (): Promise<readonly Route[]> =>
  (await composeService(ALL_ROUTES)).routes.filter(isDescribed);

/** The OpenAPI document of the back office. */
export const documentOfOffice = async (): Promise<Json> => {
  const { backOffice } = await composeService(WITH_OFFICE);
  return openApiDocument(backOffice?.routes ?? [], { baseUrl: OFFICE, version: VERSION });
};

/** The OpenAPI document of the service as its code now declares it. */
export const currentDocument = async (): Promise<Json> =>
  openApiDocument(await currentRoutes(), { baseUrl: BASE_URL, version: VERSION });

export const asText = (document: Json): string => `${JSON.stringify(document, null, 2)}\n`;
