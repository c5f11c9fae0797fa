import type { Source } from './source.ts';

/** What `--from` names. Imported when it is asked for. */
export const SOURCES: Readonly<Record<string, () => Promise<Source>>> = {
  tandem: async () => (await import('./source.ts')).ownLines,
  auth0: async () => (await import('./sources/auth0.ts')).auth0,
  firebase: async () => (await import('./sources/firebase.ts')).firebase,
  supabase: async () => (await import('./sources/supabase.ts')).supabase,
  keycloak: async () => (await import('./sources/keycloak.ts')).keycloak,
  clerk: async () => (await import('./sources/clerk.ts')).clerk,
  'better-auth': async () => (await import('./sources/better-auth.ts')).betterAuth,
  django: async () => (await import('./sources/django.ts')).django,
};

export const OWN_SOURCE = 'tandem';
