import type { AccountEvent } from 'tandem';

/** A hook that keeps the contacts of a CRM up to date. A contact has the id of the user, so a call may be repeated. */
export const crm =
  (url: string, token: string) =>
  async ({ kind, userId, at }: AccountEvent): Promise<void> => {
    if (kind !== 'registered' && kind !== 'deleted') return;
    const response = await fetch(`${url}/contacts/${userId}`, {
      method: kind === 'registered' ? 'PUT' : 'DELETE',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(kind === 'registered' && { body: JSON.stringify({ since: new Date(at).toISOString() }) }),
      redirect: 'error',
      signal: AbortSignal.timeout(5_000),
    });
    // The service logs that the hook has failed, without the message.
    if (!response.ok) throw new Error(`the CRM has answered ${response.status}`);
  };
