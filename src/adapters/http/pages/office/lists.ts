import { html } from '../../../../application/templates.ts';
import type { Invitation } from '../../../../domain/registration.ts';
import { buttonOf, foldedForms } from './forms.ts';
import { officePage, panel, tableOf, timeOf } from './frame.ts';
import type { PageView } from './view.ts';

type InvitationsShown = { readonly invitations: readonly Omit<Invitation, 'tokenHash'>[] };

export const invitationsPage = (view: PageView, { invitations }: InvitationsShown): string => {
  const rows = invitations.map(({ email, createdAt, expiresAt, attributes }) => [
    html`${email}`,
    timeOf(createdAt),
    timeOf(expiresAt),
    html`<code>${JSON.stringify(attributes)}</code>`,
    buttonOf(view, 'revoke-invitation', 'email', email),
  ]);
  return officePage(view, {
    path: '/office/invitations',
    title: 'Invitations',
    lead: 'Those that were neither used nor have expired.',
    main: html`${panel('Somebody new', html`${foldedForms(view, ['invite'])}`)}${tableOf('By their addresses', ['Address', 'Invited', 'Valid until', 'Attributes', ''], rows)}`,
  });
};
