import type { RegistrationAnswer, RegistrationRequest } from 'tandem';

const SITEVERIFY = 'https://challenges.cloudflare.com/turnstile/v0/siteverify';
const REFUSED: RegistrationAnswer = { decision: 'refuse', message: 'Please solve the CAPTCHA again.' };

/**
 * A hook that asks Turnstile whether a person has solved its CAPTCHA: the form sends `extra: { captcha: token }`. While Turnstile does not
 * answer, only those who are invited can register.
 */
export const captcha =
  (secret: string, siteverify = SITEVERIFY) =>
  async ({ extra, invited }: RegistrationRequest): Promise<RegistrationAnswer> => {
    if (invited) return { decision: 'allow' };
    if (extra.captcha === undefined) return REFUSED;
    const response = await fetch(siteverify, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ secret, response: extra.captcha }),
      redirect: 'error',
      signal: AbortSignal.timeout(2_000),
    });
    if (!response.ok) throw new Error('Turnstile has not answered');
    const { success } = (await response.json()) as { success?: unknown };
    return success === true ? { decision: 'allow' } : REFUSED;
  };
