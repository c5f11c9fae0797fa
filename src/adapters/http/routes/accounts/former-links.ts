import * as v from 'valibot';
import { PAGE_PURPOSES } from '../../../../domain/link.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';

/** Where the links in mails of version 1.0 lead: some of them are valid for days after an update. Browsers keep the fragment. */
export const formerLinkRoutes = (pagesUrl: string): Route[] =>
  PAGE_PURPOSES.map((purpose) =>
    route(
      {
        name: `former-${purpose}-page`,
        tag: 'pages',
        summary: 'Lead to the page of a link in a mail',
        ...PUBLIC_READ,
        path: `/account/${purpose}`,
        visitor: true,
        // Some mail programs add parameters to links.
        request: { query: v.unknown() },
        response: { status: 303, data: v.null(), redirects: true },
      },
      (_input, ctx) => {
        ctx.state.location = `${pagesUrl}/${purpose}`;
        return null;
      },
    ),
  );
