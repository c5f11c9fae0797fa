import type { Source } from './source.ts';
import { auth0 } from './sources/auth0.ts';
import { betterAuth } from './sources/better-auth.ts';
import { clerk } from './sources/clerk.ts';
import { django } from './sources/django.ts';
import { firebase } from './sources/firebase.ts';
import { keycloak } from './sources/keycloak.ts';
import { supabase } from './sources/supabase.ts';

export const SOURCES: Readonly<Record<string, Source>> = {
  auth0,
  firebase,
  supabase,
  keycloak,
  clerk,
  'better-auth': betterAuth,
  django,
};
