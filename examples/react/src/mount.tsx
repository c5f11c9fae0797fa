import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createAuthClient } from 'tandem-client';
import { API, SERVICE } from './addresses.ts';
import { App } from './app.tsx';

/**
 * Shows the application in an element. The client is made here and not in a component: React may render a component twice, and a page
 * needs one client.
 * @returns a function that removes the application with all timers and listeners
 */
export const mount = (element: HTMLElement): (() => void) => {
  const auth = createAuthClient({ baseUrl: SERVICE, origins: [API] });
  const root = createRoot(element);
  root.render(
    <StrictMode>
      <App auth={auth} />
    </StrictMode>,
  );
  return () => {
    root.unmount();
    auth.dispose();
  };
};
