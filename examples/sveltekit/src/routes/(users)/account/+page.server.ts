import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ locals: { user } }) => ({ username: user.username, email: user.email });
