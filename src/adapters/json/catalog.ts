import * as v from 'valibot';

export const CatalogEntry = v.pipe(
  v.object({
    code: v.string(),
    statusCode: v.number(),
    retryable: v.boolean(),
    message: v.string(),
    description: v.string(),
    type: v.string(),
  }),
  v.title('CatalogEntry'),
);
