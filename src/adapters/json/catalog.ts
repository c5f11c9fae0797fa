import * as v from 'valibot';

/** A code of the catalog of errors. */
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
  v.examples([
    {
      code: 'AUTH_USER_DUPLICATE',
      statusCode: 409,
      retryable: false,
      message: 'This username or email is already registered.',
      description: 'The username or the email belongs to a registered user.',
      type: 'https://auth.example.org/errors/AUTH_USER_DUPLICATE',
    },
  ]),
);
