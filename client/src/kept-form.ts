/** The most bytes and the most fields of a form that is kept. */
const [MAX_BYTES, MAX_FIELDS] = [500_000, 1_000];

const TEXTS = {
  en: {
    title: 'Not sent yet',
    kept: 'Your log-in had expired, so nothing was done yet. What you have typed is kept here. If it is not sent by itself, log in in a new tab, come back, and send it again.',
    lost: 'Your log-in had expired, so nothing was done, and this form is too large to be kept. Log in in a new tab, then go back to the form and send it again.',
    logIn: 'Log in in a new tab',
    send: 'Send again',
  },
  de: {
    title: 'Noch nicht gesendet',
    kept: 'Ihre Anmeldung war abgelaufen, deshalb ist noch nichts geschehen. Was Sie eingegeben haben, ist hier aufgehoben. Wenn es nicht von selbst gesendet wird, melden Sie sich in einem neuen Tab an, kommen Sie zurück, und senden Sie es noch einmal.',
    lost: 'Ihre Anmeldung war abgelaufen, deshalb ist nichts geschehen, und dieses Formular ist zu groß, um aufgehoben zu werden. Melden Sie sich in einem neuen Tab an, gehen Sie dann zurück zum Formular, und senden Sie es noch einmal.',
    logIn: 'In einem neuen Tab anmelden',
    send: 'Noch einmal senden',
  },
};

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);

/** Whether a page of this origin has sent the form. No page can set these headers. A form of another site must not be sent again from this origin. */
export const isOwnForm = ({ method, headers }: Request): boolean =>
  method === 'POST' &&
  headers.get('Sec-Fetch-Site') === 'same-origin' &&
  headers.get('Sec-Fetch-Mode') === 'navigate' &&
  headers.get('Sec-Fetch-Dest') === 'document';

/** The fields of a form; `null` if they cannot be kept, for example since the form has files, or is too large. */
const fieldsOf = async (request: Request): Promise<[string, string][] | null> => {
  const { headers, bodyUsed } = request;
  const isUrlencoded = /^application\/x-www-form-urlencoded\b/i.test(headers.get('Content-Type') ?? '');
  const length = headers.get('Content-Length');
  if (bodyUsed || !isUrlencoded || !length || Number(length) > MAX_BYTES) return null;
  const fields = [...new URLSearchParams(await request.text())];
  return fields.length > MAX_FIELDS ? null : fields;
};

type KeptFormOptions = {
  readonly base: string;
  /** The URL to which the form is sent again. */
  readonly action: string;
  /** The URL to which a log-in in another tab leads. */
  readonly to: string;
  /** Whether a script of the service renews the token, and sends the form. */
  readonly byScript: boolean;
};

/** A page that keeps the fields of a form, to send them again with another token. A redirect would lose them. */
export const keptForm = async (request: Request, { base, action, to, byScript }: KeptFormOptions) => {
  const language = /^de\b/i.test(request.headers.get('Accept-Language') ?? '') ? 'de' : 'en';
  const { title, kept, lost, logIn, send } = TEXTS[language];
  const fields = await fieldsOf(request);
  const hiddenInputs = fields?.map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  const form =
    hiddenInputs &&
    `<form method="post" action="${escapeHtml(action)}" data-again>\n${hiddenInputs.join('\n')}\n<button>${send}</button></form>`;
  const { origin } = new URL(base);
  return {
    html: `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<h1>${title}</h1>
<p role="status" data-to>${form ? kept : lost}</p>
<p><a href="${escapeHtml(`${base}/auth/continue?to=${encodeURIComponent(to)}`)}" target="_blank">${logIn}</a></p>
${form ?? ''}${form && byScript ? `\n<script type="module" src="${base}/continue-page.js"></script>` : ''}
</html>`,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; script-src ${origin}; connect-src ${origin}; frame-src ${origin}; base-uri 'none'; frame-ancestors 'none'`,
    },
  };
};
