import { type ComponentType, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { type AuthClient, createAuthClient } from 'tandem-client';
import { API, SERVICE } from './addresses.ts';
import { App } from './app.tsx';

/**
 * Shows the application. The client is made here and not in a component: React may render a component twice, and a page needs one client.
 * @param LogIn what is shown while nobody is logged in
 */
export const mount = (LogIn: ComponentType<{ auth: AuthClient }>): void => {
  const auth = createAuthClient({ baseUrl: SERVICE, origins: [API] });
  createRoot(document.getElementById('root') as HTMLElement).render(
    <StrictMode>
      <App auth={auth} LogIn={LogIn} />
    </StrictMode>,
  );
};
