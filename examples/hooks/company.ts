import type { RegistrationAnswer, RegistrationRequest } from 'tandem';

/**
 * A hook that lets the employees of some companies register, and those who are invited. Access tokens say which company it is:
 * `attributes.company`. Anybody can type an address, so set EMAIL_VERIFICATION=required with it.
 * @param companies the name of each company by the domain of its addresses
 */
export const company =
  (companies: ReadonlyMap<string, string>) =>
  ({ email, invited }: RegistrationRequest): RegistrationAnswer => {
    const name = companies.get(email.slice(email.lastIndexOf('@') + 1));
    if (name !== undefined) return { decision: 'allow', attributes: { company: name } };
    return invited ? { decision: 'allow' } : { decision: 'refuse', message: 'Please use the address of your company.' };
  };
