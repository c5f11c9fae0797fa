import { parseConfig, serve } from 'tandem';
import { captcha } from './captcha.ts';
import { crm } from './crm.ts';

const { TURNSTILE_SECRET: secret, CRM_URL, CRM_TOKEN = '' } = process.env;
if (!secret) throw new Error('set TURNSTILE_SECRET');
// The files that this process creates are for its user only.
process.umask(0o077);
await serve(parseConfig(process.env), {
  hooks: { beforeRegister: captcha(secret), ...(CRM_URL && { afterCommit: crm(CRM_URL, CRM_TOKEN) }) },
});
