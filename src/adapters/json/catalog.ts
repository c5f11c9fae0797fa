import * as v from 'valibot';
import { texts } from './fields.ts';

export const CatalogEntry = v.pipe(
  v.object({ ...texts('code', 'message', 'description', 'type'), statusCode: v.number(), retryable: v.boolean() }),
  v.title('CatalogEntry'),
);
