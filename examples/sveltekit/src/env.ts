import { defineEnvVars } from '@sveltejs/kit/env';

export const variables = defineEnvVars({
  SERVICE: {
    description: 'The address of Tandem as browsers know it',
    public: true,
    schema: (value) => value ?? 'http://localhost:3000',
  },
  ORIGIN: { description: 'The address of the pages as browsers know it', schema: (value) => value },
  JWT_ISSUER: { description: 'As Tandem has it', schema: (value) => value },
  JWT_AUDIENCE: { description: 'As Tandem has it', schema: (value) => value },
});
